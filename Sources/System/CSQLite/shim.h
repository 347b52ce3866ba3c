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

static inline int sqlite3_keep_log_on_close(sqlite3 *connection) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
