// The files of the console, as they were when the program was built.

#pragma once

#include <stddef.h>

typedef struct {
  const char *name;
  const char *type;
  const unsigned char *bytes;
  size_t size;
} console_file;

/// The file with this number, counted from 0; NULL behind the last.
const console_file *console_file_at(size_t number);
