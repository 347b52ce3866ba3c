// Keeps OpenSSL until LeakSanitizer has looked (docs/operate/reliability.md, "Under sanitizers").
//
// OpenSSL has something in memory for each thread, which it gives back when the thread ends, and takes
// itself down when the process ends. For a thread that ends after that and before LeakSanitizer looks, it
// gives nothing back. This library (LD_PRELOAD) tells it to stay. In a program without OpenSSL it does
// nothing.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

// OPENSSL_INIT_NO_ATEXIT.
static const uint64_t withoutCleanup = 0x00080000;

typedef int (*Initialize)(uint64_t options, const void *settings);

__attribute__((constructor)) static void keep(void) {
  Initialize initialize = (Initialize)dlsym(RTLD_DEFAULT, "OPENSSL_init_crypto");
  if (initialize != NULL) initialize(withoutCleanup, NULL);
}
