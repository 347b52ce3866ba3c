import Foundation
import JSONCoding
import Testing

@testable import StringTables

/// Examples/WebPush/strings.js beside the reader in Swift: both read the same files, and must say the same.
@Suite(
  .serialized,
  .enabled(if: WebDriver.isInstalled, "chromium and chromium-driver are not installed"))
struct StringsInBrowserTests {
  @Test("a worker's reader of .strings reads what the reader in Swift reads")
  func stringsFiles() async throws {
    let texts = [
      "", "// nothing", "/* a */ \"a\" = \"b\"; c = d; 'e' = 'f\"'; g;",
      #""k" = "\"\\\n\t\r\a\b\f\v\'\U0041\u00e9\UD83D\uDE00\U9!\101\q";"#,
      "\"a\" = \"b\";\n\n\"c\" = \"d\"\n\"e\" = \"f\";", "\"a\" = \"b", "/* a", "= b;", "a = ;",
      "\"a\" = \"\\Ux\";", "\"a\" = \"\\377\";", "\"a\" = \"\\", "a//b = c;", "a = b; /",
    ]
    try await withReader { browser in
      for text in texts {
        let read = try await browser.run(
          """
          try { return [...AppStrings.readStrings(arguments[0])]; } catch { return null; }
          """, .string(text))
        let strings = try? StringsFile(Data(text.utf8), path: "x").strings
        #expect(self.strings(read) == strings, "\(text)")
      }
    }
  }

  @Test("a worker's reader of string catalogs reads what the reader in Swift reads")
  func catalogs() async throws {
    let text = """
      { "version": "1.0", "sourceLanguage": "en", "strings": {
        "a": { "localizations": { "pt-BR": { "stringUnit": { "state": "new", "value": "" } } } },
        "b": { "shouldTranslate": false, "localizations": {
          "en": { "stringUnit": { "state": "new", "value": "B" } },
          "de": { "stringUnit": { "state": "translated", "value": "x" } } } },
        "c": { "localizations": { "de": { "variations": { "device": { "other": {
          "variations": { "plural": { "other": {
            "stringUnit": { "state": "translated", "value": "C" } } } } } } } },
          "es": { "stringUnit": { "state": "translated", "value": "%#@n@" },
            "substitutions": { "n": {} } } } } } }
      """
    let catalog = try StringCatalog(Data(text.utf8), path: "x")
    try await withReader { browser in
      let read = try await browser.run(
        """
        const { sourceLanguage, tables } = AppStrings.readCatalog(arguments[0]);
        return [sourceLanguage, ["en", "de", "pt-br", "es"].map(name =>
          tables.has(name) ? [...tables.get(name)] : null)];
        """, .string(text))
      #expect(read.array?.first?.string == catalog.sourceLanguage)
      let tables = read.array?.last?.array?.map(strings)
      #expect(tables == ["en", "de", "pt-BR", "es"].map { catalog.tables[$0] })
      #expect(tables?.first == ["a": "a", "b": "B", "c": "c"])
    }
  }

  @Test("a worker's reader chooses languages and fills placeholders as the reader in Swift does")
  func lookupAndPlaceholders() async throws {
    let templates = [
      "%@ %2$@ %@ %%", "%2$lld|%.1f|%s", "50 % off, 100%", "%%@ %1$", "%3$@%@%@%@", "%0$@",
      "é\u{301}%@",
    ]
    try await withReader { browser in
      for tag in [
        "de-AT", "zh-TW", "zh-CN", "zh-Hant-HK", "en", "sr", "pt-BR", "en-US-u-ca-gregory",
      ] {
        let tags = try await browser.run("return AppStrings.lookup(arguments[0]);", .string(tag))
        let lower = tags.array?.compactMap { $0.string?.lowercased() } ?? []
        // In Swift the extension of a locale is part of its full tag, which no folder has.
        #expect(
          lower.filter { !$0.contains("-u-") }
            == LanguageTag.lookup(tag).filter { !$0.contains("-u-") }, "\(tag)")
      }
      for template in templates {
        let text = try await browser.run(
          "return AppStrings.fill(arguments[0], ['6.4', '%@']);", .string(template))
        #expect(text.string == StringTemplate.fill(template, with: ["6.4", "%@"]), "\(template)")
      }
    }
  }

  private func strings(_ pairs: JSONValue) -> [String: String]? {
    guard let pairs = pairs.array else { return nil }
    return Dictionary(
      uniqueKeysWithValues: pairs.map { ($0.array?[0].string ?? "", $0.array?[1].string ?? "") })
  }

  private func withReader(_ body: (WebDriver) async throws -> Void) async throws {
    let app = try DocumentedApp()
    do {
      try await WebDriver.run { browser in
        try await browser.go(to: app.origin + "/")
        _ = try await browser.run(
          """
          return new Promise((done, failed) => {
            const script = document.createElement("script");
            script.src = "strings.js";
            script.onload = () => done(true);
            script.onerror = failed;
            document.head.append(script);
          });
          """)
        try await body(browser)
      }
    } catch {
      await app.stop()
      throw error
    }
    await app.stop()
  }
}
