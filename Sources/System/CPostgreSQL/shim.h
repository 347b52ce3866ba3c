#pragma once
#include <libpq-fe.h>

// Notices (such as "table exists already, skipping") would go to the standard error stream.
static inline void petrel_ignore_notice(void *context, const PGresult *result) {}

static inline void petrel_ignore_notices(PGconn *connection) {
  PQsetNoticeReceiver(connection, petrel_ignore_notice, 0);
}
