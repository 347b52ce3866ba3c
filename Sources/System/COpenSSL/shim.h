#pragma once
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// OpenSSL gives the following as macros or variadic functions, which Swift does not import.

static inline EVP_PKEY *petrel_generate_p256_key(void) { return EVP_EC_gen("P-256"); }

static inline void petrel_openssl_free(void *memory) { OPENSSL_free(memory); }

static inline long petrel_bio_memory(BIO *bio, char **bytes) {
  return BIO_get_mem_data(bio, bytes);
}

static inline void petrel_x509v3_set_issuer(X509V3_CTX *context, X509 *issuer, X509 *subject) {
  X509V3_set_ctx_nodb(context);
  X509V3_set_ctx(context, issuer, subject, NULL, NULL, 0);
}

static inline int petrel_ssl_context_require_tls12(SSL_CTX *context) {
  return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

static inline void petrel_ssl_context_add_mode(SSL_CTX *context, long mode) {
  SSL_CTX_set_mode(context, mode);
}

// HTTP/2 allows neither (RFC 9113 section 9.2.1).
static inline void petrel_ssl_context_forbid_renegotiation_and_compression(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
}

static inline int petrel_ssl_set_server_name(SSL *ssl, const char *name) {
  return (int)SSL_set_tlsext_host_name(ssl, name);
}

static inline int petrel_ssl_context_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
  return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

static inline int petrel_ssl_is_unexpected_end(unsigned long error) {
  return ERR_GET_LIB(error) == ERR_LIB_SSL
      && ERR_GET_REASON(error) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
}

typedef void (*petrel_ssl_message_callback)(
    int is_written, int version, int type, const void *bytes, size_t count, SSL *ssl, void *context);

/// What is called with each message of the protocol, and with the header of each record.
static inline void petrel_ssl_context_set_message_callback(
    SSL_CTX *ssl_context, petrel_ssl_message_callback callback, void *context) {
  SSL_CTX_set_msg_callback(ssl_context, callback);
  SSL_CTX_set_msg_callback_arg(ssl_context, context);
}

/// Within a call that reads: it fails, and so do those after it.
static inline void petrel_ssl_break_off(SSL *ssl) {
  SSL_set_shutdown(ssl, SSL_RECEIVED_SHUTDOWN);
  ERR_raise(ERR_LIB_SSL, SSL_R_EXCESSIVE_MESSAGE_SIZE);
}
