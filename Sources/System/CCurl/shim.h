#pragma once
#include <curl/curl.h>
#include <netinet/in.h>
#include <sys/socket.h>

// curl_easy_setopt, curl_multi_setopt and curl_easy_getinfo are variadic, which Swift does not
// import. Here is one function for each type of argument, and one for each type of callback.

static inline CURLcode petrel_curl_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

/// The text is copied.
static inline CURLcode petrel_curl_set_text(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode petrel_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode petrel_curl_set_headers(CURL *easy, struct curl_slist *headers) {
  return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
}

/// The bytes are copied.
static inline CURLcode petrel_curl_set_body(CURL *easy, const void *bytes, size_t count) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
  if (code != CURLE_OK) return code;
  return curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, bytes);
}

/// The bytes are read from the file as they are sent, and read again where they must be sent again.
static inline CURLcode petrel_curl_set_file(CURL *easy, FILE *file, size_t count) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
  if (code != CURLE_OK) return code;
  return curl_easy_setopt(easy, CURLOPT_READDATA, file);
}

typedef size_t (*petrel_curl_receiver)(char *bytes, size_t size, size_t count, void *context);
typedef curl_socket_t (*petrel_curl_opener)(
    void *context, curlsocktype purpose, struct curl_sockaddr *address);

/// What is called with pieces of the body, with header lines, and before a connection is opened.
static inline CURLcode petrel_curl_set_callbacks(
    CURL *easy, void *context, petrel_curl_receiver body, petrel_curl_receiver header,
    petrel_curl_opener opener) {
  CURLcode code = CURLE_OK;
  if ((code = curl_easy_setopt(easy, CURLOPT_PRIVATE, context)) != CURLE_OK) return code;
  if ((code = curl_easy_setopt(easy, CURLOPT_WRITEDATA, context)) != CURLE_OK) return code;
  if ((code = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body)) != CURLE_OK) return code;
  if ((code = curl_easy_setopt(easy, CURLOPT_HEADERDATA, context)) != CURLE_OK) return code;
  if ((code = curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header)) != CURLE_OK) return code;
  if ((code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, context)) != CURLE_OK) return code;
  return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, opener);
}

/// What is called while bytes come or go (`CURLOPT_NOPROGRESS` must be 0), and before the request is sent over its
/// connection.
static inline CURLcode petrel_curl_set_progress(
    CURL *easy, void *context, curl_xferinfo_callback progress, curl_prereq_callback request) {
  CURLcode code = CURLE_OK;
  if ((code = curl_easy_setopt(easy, CURLOPT_XFERINFODATA, context)) != CURLE_OK) return code;
  if ((code = curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, progress)) != CURLE_OK) return code;
  if ((code = curl_easy_setopt(easy, CURLOPT_PREREQDATA, context)) != CURLE_OK) return code;
  return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, request);
}

typedef CURLcode (*petrel_curl_tls_callback)(CURL *easy, void *ssl_context, void *context);

/// What is called with OpenSSL's settings of each connection, before it is opened.
static inline CURLcode petrel_curl_set_tls_callback(
    CURL *easy, void *context, petrel_curl_tls_callback callback) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, context);
  if (code != CURLE_OK) return code;
  return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, callback);
}

static inline void *petrel_curl_context(CURL *easy) {
  void *context = NULL;
  if (curl_easy_getinfo(easy, CURLINFO_PRIVATE, &context) != CURLE_OK) return NULL;
  return context;
}

static inline long petrel_curl_status(CURL *easy) {
  long status = 0;
  if (curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status) != CURLE_OK) return 0;
  return status;
}

static inline CURLMcode petrel_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

/// The next transfer that has ended, with its result; NULL when there is none.
static inline CURL *petrel_curl_next_ended(CURLM *multi, CURLcode *result) {
  int left = 0;
  CURLMsg *message = NULL;
  while ((message = curl_multi_info_read(multi, &left)) != NULL) {
    if (message->msg != CURLMSG_DONE) continue;
    *result = message->data.result;
    return message->easy_handle;
  }
  return NULL;
}

static inline curl_socket_t petrel_curl_open_socket(const struct curl_sockaddr *address) {
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static inline const struct sockaddr *petrel_curl_address(const struct curl_sockaddr *address) {
  return &address->addr;
}

static inline CURLcode petrel_curl_global_init(void) {
  return curl_global_init(CURL_GLOBAL_DEFAULT);
}

static const curl_socket_t petrel_curl_bad_socket = CURL_SOCKET_BAD;
