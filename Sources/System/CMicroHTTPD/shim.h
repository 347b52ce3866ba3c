#pragma once
#include <limits.h>
#include <microhttpd.h>
#include <stdint.h>
#include <sys/types.h>

// MHD_start_daemon and MHD_get_connection_info are variadic, and the library's enumerations reach
// Swift as closed ones; both are kept on this side.

/// What one event loop is started with.
struct MicroHTTPDOptions {
  void *context;
  MHD_LogCallback log;
  MHD_AccessHandlerCallback access;
  void *(*target)(void *context, const char *target, struct MHD_Connection *connection);
  MHD_RequestCompletedCallback completed;
  MHD_NotifyConnectionCallback connection;
  unsigned int idleTimeoutSeconds;
  size_t connectionMemory;
};

/// One thread with its own epoll set. It has no listening socket: connections are handed to it.
/// Returns NULL with `errno` set when it cannot start.
static inline struct MHD_Daemon *microhttpd_start(const struct MicroHTTPDOptions *options) {
  struct MHD_OptionItem items[] = {
    {MHD_OPTION_EXTERNAL_LOGGER, (intptr_t)options->log, options->context},
    {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)options->target, options->context},
    {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)options->completed, options->context},
    {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)options->connection, options->context},
    // No limit of the library's own: the acceptor has one. At its limit the library (0.9.75) keeps a lock that it
    // takes again for the next connection, and the thread stands still for good.
    {MHD_OPTION_CONNECTION_LIMIT, INT_MAX, NULL},
    {MHD_OPTION_CONNECTION_TIMEOUT, (intptr_t)options->idleTimeoutSeconds, NULL},
    {MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)options->connectionMemory, NULL},
    {MHD_OPTION_END, 0, NULL},
  };
  return MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET |
          MHD_USE_ERROR_LOG,
      0, NULL, NULL, options->access, options->context, MHD_OPTION_ARRAY, items, MHD_OPTION_END);
}

static inline enum MHD_Result microhttpd_result(_Bool ok) { return ok ? MHD_YES : MHD_NO; }

static inline _Bool microhttpd_is_started(enum MHD_ConnectionNotificationCode code) {
  return code == MHD_CONNECTION_NOTIFY_STARTED;
}

static inline _Bool microhttpd_is_complete(enum MHD_RequestTerminationCode code) {
  return code == MHD_REQUEST_TERMINATED_COMPLETED_OK;
}

/// The pointer that was left with the connection when it began.
static inline void *microhttpd_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : NULL;
}

/// Whether the header fields of its request are there.
static inline _Bool microhttpd_has_head(struct MHD_Connection *connection) {
  return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE) != NULL;
}

static inline int microhttpd_descriptor(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}

static inline const struct sockaddr *microhttpd_client_address(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info ? info->client_addr : NULL;
}

static inline void microhttpd_each_header(
    struct MHD_Connection *connection, MHD_KeyValueIteratorN iterator, void *context) {
  (void)MHD_get_connection_values_n(connection, MHD_HEADER_KIND, iterator, context);
}

static inline struct MHD_Response *microhttpd_response_copying(const void *bytes, size_t count) {
  return MHD_create_response_from_buffer(count, (void *)bytes, MHD_RESPMEM_MUST_COPY);
}

static inline uint64_t microhttpd_unknown_size(void) { return MHD_SIZE_UNKNOWN; }

static inline struct MHD_Response *microhttpd_response_reading(
    uint64_t size, size_t piece, MHD_ContentReaderCallback reader, void *context,
    MHD_ContentReaderFreeCallback free) {
  // The response holds a block of that size as long as it lives; chunks do not go through it.
  const size_t block = size == MHD_SIZE_UNKNOWN ? 1 : piece;
  return MHD_create_response_from_callback(size, block, reader, context, free);
}

/// Sends no chunks and closes the connection afterwards.
static inline void microhttpd_never_chunk(struct MHD_Response *response) {
  (void)MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}

static inline _Bool microhttpd_add_header(
    struct MHD_Response *response, const char *name, const char *value) {
  return MHD_add_response_header(response, name, value) == MHD_YES;
}

static inline ssize_t microhttpd_end_of_stream(void) { return MHD_CONTENT_READER_END_OF_STREAM; }
static inline ssize_t microhttpd_end_with_error(void) { return MHD_CONTENT_READER_END_WITH_ERROR; }

// Linux's own, which Swift's view of the C library leaves out.
#include <sys/socket.h>
extern int accept4(int listener, struct sockaddr *address, socklen_t *size, int flags);
static const short microhttpd_poll_peer_closed = 0x2000;  // POLLRDHUP, poll(2)
