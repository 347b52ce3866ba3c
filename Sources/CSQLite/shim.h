#pragma once
#include <sqlite3.h>

// sqlite3_config is variadic, which Swift cannot call.
static inline int sqlite3_config_without_memory_statistics(void) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

static inline int sqlite3_config_read_page_cache(sqlite3_pcache_methods2 *methods) {
  return sqlite3_config(SQLITE_CONFIG_GETPCACHE2, methods);
}

static inline int sqlite3_config_write_page_cache(sqlite3_pcache_methods2 *methods) {
  return sqlite3_config(SQLITE_CONFIG_PCACHE2, methods);
}

// sqlite3_temp_directory is a variable, which Swift takes for unsafe. No other thread may be making a
// temporary file meanwhile.
static inline int sqlite3_vacuum_by_file_in(sqlite3 *connection, const char *folder) {
  sqlite3_temp_directory = sqlite3_mprintf("%s", folder);
  int result = sqlite3_exec(connection, "VACUUM", 0, 0, 0);
  sqlite3_free(sqlite3_temp_directory);
  sqlite3_temp_directory = 0;
  return result;
}

static inline int sqlite3_keep_log_on_close(sqlite3 *connection) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
