/* heddle/pallas.h - in the source tree: where an installed Heddle has its headers. */
#pragma once
#include "../pallas/pallas.h"
