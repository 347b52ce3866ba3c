// The files lie in the program itself (C23's #embed), so that the console needs nothing but it. The
// compiler notes them as what this file is made of: it is built anew when one of them changes.

#include "console_files.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

#define JAVASCRIPT "text/javascript; charset=utf-8"

static const unsigned char api_js[] = {
#embed "files/api.js"
};
static const unsigned char app_js[] = {
#embed "files/app.js"
};
static const unsigned char cards_js[] = {
#embed "files/cards.js"
};
static const unsigned char chart_js[] = {
#embed "files/chart.js"
};
static const unsigned char console_css[] = {
#embed "files/console.css"
};
static const unsigned char devices_js[] = {
#embed "files/devices.js"
};
static const unsigned char dom_js[] = {
#embed "files/dom.js"
};
static const unsigned char dry_run_js[] = {
#embed "files/dry-run.js"
};
static const unsigned char explain_js[] = {
#embed "files/explain.js"
};
static const unsigned char fields_js[] = {
#embed "files/fields.js"
};
static const unsigned char index_html[] = {
#embed "files/index.html"
};
static const unsigned char keys_js[] = {
#embed "files/keys.js"
};
static const unsigned char live_js[] = {
#embed "files/live.js"
};
static const unsigned char overview_js[] = {
#embed "files/overview.js"
};
static const unsigned char petrel_svg[] = {
#embed "files/petrel.svg"
};
static const unsigned char place_js[] = {
#embed "files/place.js"
};
static const unsigned char pushes_js[] = {
#embed "files/pushes.js"
};
static const unsigned char reasons_js[] = {
#embed "files/reasons.js"
};
static const unsigned char records_js[] = {
#embed "files/records.js"
};
static const unsigned char schema_js[] = {
#embed "files/schema.js"
};
static const unsigned char shares_js[] = {
#embed "files/shares.js"
};
static const unsigned char sign_in_js[] = {
#embed "files/sign-in.js"
};
static const unsigned char story_js[] = {
#embed "files/story.js"
};
static const unsigned char subscriptions_js[] = {
#embed "files/subscriptions.js"
};
static const unsigned char theme_js[] = {
#embed "files/theme.js"
};
static const unsigned char users_js[] = {
#embed "files/users.js"
};
static const unsigned char zones_js[] = {
#embed "files/zones.js"
};

#define FILE_OF(name, type, bytes) {name, type, bytes, sizeof bytes}

static const console_file files[] = {
  FILE_OF("api.js", JAVASCRIPT, api_js),
  FILE_OF("app.js", JAVASCRIPT, app_js),
  FILE_OF("cards.js", JAVASCRIPT, cards_js),
  FILE_OF("chart.js", JAVASCRIPT, chart_js),
  FILE_OF("console.css", "text/css; charset=utf-8", console_css),
  FILE_OF("devices.js", JAVASCRIPT, devices_js),
  FILE_OF("dom.js", JAVASCRIPT, dom_js),
  FILE_OF("dry-run.js", JAVASCRIPT, dry_run_js),
  FILE_OF("explain.js", JAVASCRIPT, explain_js),
  FILE_OF("fields.js", JAVASCRIPT, fields_js),
  FILE_OF("index.html", "text/html; charset=utf-8", index_html),
  FILE_OF("keys.js", JAVASCRIPT, keys_js),
  FILE_OF("live.js", JAVASCRIPT, live_js),
  FILE_OF("overview.js", JAVASCRIPT, overview_js),
  FILE_OF("petrel.svg", "image/svg+xml", petrel_svg),
  FILE_OF("place.js", JAVASCRIPT, place_js),
  FILE_OF("pushes.js", JAVASCRIPT, pushes_js),
  FILE_OF("reasons.js", JAVASCRIPT, reasons_js),
  FILE_OF("records.js", JAVASCRIPT, records_js),
  FILE_OF("schema.js", JAVASCRIPT, schema_js),
  FILE_OF("shares.js", JAVASCRIPT, shares_js),
  FILE_OF("sign-in.js", JAVASCRIPT, sign_in_js),
  FILE_OF("story.js", JAVASCRIPT, story_js),
  FILE_OF("subscriptions.js", JAVASCRIPT, subscriptions_js),
  FILE_OF("theme.js", JAVASCRIPT, theme_js),
  FILE_OF("users.js", JAVASCRIPT, users_js),
  FILE_OF("zones.js", JAVASCRIPT, zones_js),
};

const console_file *console_file_at(size_t number) {
  return number < sizeof files / sizeof *files ? &files[number] : NULL;
}
