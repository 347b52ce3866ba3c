#pragma once
#include <sys/timex.h>
#include <sys/vfs.h>
