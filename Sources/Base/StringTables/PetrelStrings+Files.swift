import Foundation

extension PetrelStrings {
  /// Reads the strings of a folder with the layout of an app's resources. It has either
  /// `Localizable.xcstrings`, or `Localizable.strings` in folders of languages, such as `en.lproj`,
  /// `zh-Hans.lproj` and `Base.lproj`.
  ///
  /// - Parameters:
  ///   - folder: the folder. Other files and folders in it are ignored.
  ///   - languages: the languages that the reader wants, the most wanted first.
  /// - Throws: ``PetrelStringsError`` with the file, the line if known, and the rule. Causes are a
  ///   folder without strings, a folder with both kinds of files, and a file that cannot be read.
  public init(
    contentsOf folder: URL, languages: [String] = PetrelStrings.userLanguages
  ) throws(PetrelStringsError) {
    let catalog = folder.appendingPathComponent("Localizable.xcstrings").path
    var tables: [String: [String: String]] = [:]
    for file in try Self.stringsFiles(in: folder) {
      tables[file.language] = try StringsFile(try Self.data(of: file.path), path: file.path).strings
    }
    guard FileManager.default.fileExists(atPath: catalog) else {
      guard !tables.isEmpty else {
        throw PetrelStringsError(
          path: folder.path, line: nil,
          rule: "has neither Localizable.xcstrings nor a folder such as en.lproj with "
            + "Localizable.strings")
      }
      self.init(tables: tables, fallbacks: ["Base", "en"], languages: languages)
      return
    }
    guard tables.isEmpty else {
      throw PetrelStringsError(
        path: folder.path, line: nil,
        rule: "has both Localizable.xcstrings and Localizable.strings; remove one of them")
    }
    let strings = try StringCatalog(try Self.data(of: catalog), path: catalog)
    self.init(
      tables: strings.tables, fallbacks: [strings.sourceLanguage], languages: languages)
  }

  /// Returns the paths that ``init(contentsOf:languages:)`` reads in a folder, for programs that
  /// reload changed files. The catalog comes first, even if it does not exist; the others are
  /// sorted.
  package static func files(in folder: URL) -> [String] {
    let catalog = folder.appendingPathComponent("Localizable.xcstrings").path
    // A folder that cannot be read has no files. Reading its strings then reports the error.
    let others = (try? stringsFiles(in: folder)) ?? []
    return [catalog] + others.map(\.path)
  }

  /// Returns the `.strings` files of a folder with their languages.
  private static func stringsFiles(
    in folder: URL
  ) throws(PetrelStringsError) -> [(language: String, path: String)] {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    } catch {
      throw PetrelStringsError(
        path: folder.path, line: nil, rule: "is not a folder that can be read")
    }
    return names.sorted().compactMap { name in
      guard name.hasSuffix(".lproj") else { return nil }
      let path = folder.appendingPathComponent(name).appendingPathComponent("Localizable.strings")
        .path
      return FileManager.default.fileExists(atPath: path) ? (String(name.dropLast(6)), path) : nil
    }
  }

  /// Returns the contents of a file.
  private static func data(of path: String) throws(PetrelStringsError) -> Data {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw PetrelStringsError(path: path, line: nil, rule: "cannot be read")
    }
    return data
  }
}
