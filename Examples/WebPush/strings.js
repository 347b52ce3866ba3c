"use strict";

/**
 * An app's strings in the languages of the browser's user, for a service worker that shows alerts with `loc-key`.
 *
 *     importScripts("strings.js");
 *     const strings = new AppStrings("strings/");
 *     await strings.text("NEW_NOTE_%@", ["Milk"]);
 *
 * The folder has either `Localizable.xcstrings`, or `Localizable.strings` (as text) in folders of languages such as
 * `en.lproj`. The rules are those of Petrel's docs/reference/localization.md, which the client on Linux and the server follow too.
 */
class AppStrings {
  #folder;
  #languages;
  #files = new Map();

  /** The folder's URL with a slash at its end, and the languages that the user wants, the most wanted first. */
  constructor(folder = "./", languages = navigator.languages) {
    this.#folder = folder;
    this.#languages = languages;
  }

  /** The text of a key with arguments in the place of its placeholders; undefined where no language has the key. */
  async text(key, args = []) {
    if (key === undefined) return undefined;
    const wanted = this.#languages.flatMap(AppStrings.lookup);
    const catalog = await this.#file("Localizable.xcstrings", AppStrings.readCatalog);
    const languages = [...wanted, ...(catalog ? [catalog.sourceLanguage] : ["Base", "en"])];
    for (const language of languages) {
      const table = catalog
        ? catalog.tables.get(language.toLowerCase())
        : await this.#file(`${language}.lproj/Localizable.strings`, AppStrings.readStrings);
      const text = table?.get(key);
      if (text !== undefined) return AppStrings.fill(text, args);
    }
    return undefined;
  }

  /** What a file has; undefined for one that is not there or cannot be read. Each file is asked for once. */
  #file(name, read) {
    if (!this.#files.has(name)) {
      this.#files.set(name, (async () => {
        try {
          const answer = await fetch(this.#folder + name);
          if (!answer.ok) return undefined;
          return read(AppStrings.decode(await answer.arrayBuffer()));
        } catch (error) {
          console.warn(`${name}: ${error.message}`);
          return undefined;
        }
      })());
    }
    return this.#files.get(name);
  }

  /** The tags to try for a wanted language, the closest first, such as zh-TW, zh-Hant-TW, zh-Hant, zh. */
  static lookup(tag) {
    const truncations = tag => {
      const parts = tag.split("-");
      const tags = [];
      while (parts.length) {
        tags.push(parts.join("-"));
        parts.pop();
        // A single character begins an extension; it means nothing by itself.
        if (parts.at(-1)?.length === 1) parts.pop();
      }
      return tags;
    };
    const full = new Intl.Locale(tag).maximize().baseName;
    return [tag, ...truncations(full).filter(tag => tag.includes("-")), ...truncations(tag)];
  }

  static decode(buffer) {
    const [first, second] = new Uint8Array(buffer);
    const isUTF16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
    const encoding = !isUTF16 ? "utf-8" : first === 0xff ? "utf-16le" : "utf-16be";
    return new TextDecoder(encoding, { fatal: true }).decode(buffer);
  }

  /** Reads a `.strings` file: a map of texts by key. */
  static readStrings(source) {
    const blank = /(?:[\t-\r \u2028\u2029]|\/\/[^\n\r\u2028\u2029]*|\/\*[^]*?\*\/)*/y;
    const token = /"((?:[^"\\]|\\[^])*)"|'((?:[^'\\]|\\[^])*)'|([\w$\/:.\-]+)|([=;])/y;
    let position = 0;
    const mistake = rule => new Error(`line ${source.slice(0, position).split("\n").length}: ${rule}`);
    const next = () => {
      blank.lastIndex = position;
      blank.exec(source);
      position = blank.lastIndex;
      if (position === source.length) return {};
      token.lastIndex = position;
      if (source.startsWith("/*", position)) throw mistake("a comment has no '*/'");
      const match = token.exec(source);
      if (!match) throw mistake("a text in quotes, a word, '=' or ';' is missing");
      position = token.lastIndex;
      const [, double, single, word, sign] = match;
      const quoted = double ?? single;
      return { sign, text: quoted === undefined ? word : AppStrings.unescape(quoted, mistake) };
    };
    const table = new Map();
    for (;;) {
      const { text: key, sign } = next();
      if (key === undefined && sign === undefined) return table;
      if (key === undefined) throw mistake("a key is missing");
      let value = key;
      let end = next();
      if (end.sign === "=") {
        value = next().text;
        if (value === undefined) throw mistake(`the text of '${key}' is missing`);
        end = next();
      }
      if (end.sign !== ";") throw mistake(`a ';' is missing behind '${key}'`);
      table.set(key, value);
    }
  }

  static unescape(text, mistake) {
    const names = { a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };
    return text.replace(/\\(?:[Uu]([0-9a-fA-F]{1,4})|([0-7]{1,3})|([^]))/g, (_, hex, octal, other) => {
      if (other === "U" || other === "u") throw mistake("'\\U' needs one to four hexadecimal digits");
      const code = hex ? parseInt(hex, 16) : parseInt(octal, 8);
      if (octal && code >= 0x80) throw mistake("octal escapes end with '\\177'");
      return other ? names[other] ?? other : String.fromCharCode(code);
    });
  }

  /** Reads a string catalog: its source language, and maps of texts by key for each language in lower case. */
  static readCatalog(source) {
    const { sourceLanguage, strings } = JSON.parse(source);
    const text = ({ stringUnit, variations = {}, substitutions = {} }) => {
      if (Object.keys(substitutions).length) return undefined;
      if (stringUnit) return stringUnit.value === "" && stringUnit.state === "new" ? undefined : stringUnit.value;
      const texts = ["plural", "device"].map(kind => variations[kind]?.other).filter(Boolean).map(text);
      return texts.find(text => text !== undefined);
    };
    const tables = new Map();
    const put = (language, key, value) => {
      const name = language.toLowerCase();
      if (!tables.has(name)) tables.set(name, new Map());
      tables.get(name).set(key, value);
    };
    for (const [key, { shouldTranslate = true, localizations = {} }] of Object.entries(strings)) {
      put(sourceLanguage, key, key);
      for (const [language, localization] of Object.entries(localizations)) {
        if (!shouldTranslate && language !== sourceLanguage) continue;
        const value = text(localization);
        if (value !== undefined) put(language, key, value);
      }
    }
    return { sourceLanguage, tables };
  }

  /** `%@` takes the next argument, `%2$@` the second, `%%` is a percent sign; numbers' placeholders take texts too. */
  static fill(text, args) {
    const placeholder = /%(?:%|(?:(\d+)\$)?[\-+#0']*\d*(?:\.\d*)?(?:hh|h|ll|l|q|L|z|t|j)?[@dDiuUxXoOfFeEgGaAcCsSp])/g;
    let next = 0;
    return text.replace(placeholder, (match, position) =>
      match === "%%" ? "%" : args[position ? Number(position) - 1 : next++] ?? "");
  }
}
