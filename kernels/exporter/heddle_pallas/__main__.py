"""python -m heddle_pallas: the command heddle-pallas."""

import sys

from .frontend.cli import main

sys.exit(main())
