# Heddle. `make help` lists what there is. BUILD=dir builds elsewhere.
BUILD ?= build
CC ?= gcc
PACKAGES = glib-2.0 gmodule-2.0 json-glib-1.0 libxxhash libxml-2.0
WARNINGS = -Wall -Wextra -Werror -Wswitch-enum -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
CFLAGS ?= -O2 -g
BASE_CFLAGS = -std=gnu11 -fno-omit-frame-pointer -fwrapv -D_GNU_SOURCE -MMD -MP $(WARNINGS) $(shell pkg-config --cflags $(PACKAGES)) -Ikernels
BASE_LIBS = $(shell pkg-config --libs $(PACKAGES)) -lm -pthread -ldl

SOURCES := $(sort $(wildcard model/*.c kernels/*.c kernels/*/*.c checker/*.c checker/*/*.c))
OBJECTS := $(SOURCES:%.c=$(BUILD)/%.o)
TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(sort $(wildcard tests/test_*.c)))
TEST_SUPPORT := $(patsubst %.c,$(BUILD)/%.o,$(filter-out $(wildcard tests/test_*.c),$(sort $(wildcard tests/*.c))))

all: $(BUILD)/heddle

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) -c $< -o $@

$(BUILD)/heddle: $(OBJECTS)
	$(CC) $(CFLAGS) $^ -o $@ $(BASE_LIBS)

$(BUILD)/tests/%: $(BUILD)/tests/%.o $(TEST_SUPPORT) $(filter-out $(BUILD)/checker/main.o,$(OBJECTS))
	$(CC) $(CFLAGS) $^ -o $@ $(BASE_LIBS) $(shell pkg-config --libs cmocka)

test: all $(TESTS)
	@set -e; for t in $(TESTS); do echo "== $$t"; HEDDLE=$(BUILD)/heddle $$t; done

clean:
	rm -rf $(BUILD)

.PHONY: all test clean
.SECONDARY:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
