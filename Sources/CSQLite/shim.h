#pragma once
#include <sqlite3.h>

// sqlite3_config is variadic, which Swift cannot call.
static inline int sqlite3_config_without_memory_statistics(void) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
