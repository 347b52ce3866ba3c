import Foundation

extension PetrelStrings {
  /// Reads the strings of a folder that is laid out as an app's resources: either `Localizable.xcstrings`, or
  /// `Localizable.strings` in folders of languages, such as `en.lproj`, `zh-Hans.lproj` and `Base.lproj`.
  ///
  /// - Parameters:
  ///   - folder: The folder. Other files and folders in it are left alone.
  ///   - languages: The languages that the reader wants, the most wanted first.
  /// - Throws: ``PetrelStringsError`` that names the file, the line where it can, and the rule: when there are no strings, when
  ///   there is both a catalog and a `.strings` file, and when a file cannot be read.
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
        rule: "has both Localizable.xcstrings and Localizable.strings; one of them must go")
    }
    let strings = try StringCatalog(try Self.data(of: catalog), path: catalog)
    self.init(
      tables: strings.tables, fallbacks: [strings.sourceLanguage], languages: languages)
  }

  /// The files that ``init(contentsOf:languages:)`` reads in a folder, in the order of their names; for a program that reads
  /// them anew when they change.
  package static func files(in folder: URL) -> [String] {
    let catalog = folder.appendingPathComponent("Localizable.xcstrings").path
    // A folder that cannot be read has no files; reading its strings gives the error.
    let others = (try? stringsFiles(in: folder)) ?? []
    return [catalog] + others.map(\.path)
  }

  private static func stringsFiles(
    in folder: URL
  ) throws(PetrelStringsError) -> [(language: String, path: String)] {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    } catch {
      throw PetrelStringsError(
        path: folder.path, line: nil, rule: "is no folder that can be read")
    }
    return names.sorted().compactMap { name in
      guard name.hasSuffix(".lproj") else { return nil }
      let path = folder.appendingPathComponent(name).appendingPathComponent("Localizable.strings")
        .path
      return FileManager.default.fileExists(atPath: path) ? (String(name.dropLast(6)), path) : nil
    }
  }

  private static func data(of path: String) throws(PetrelStringsError) -> Data {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw PetrelStringsError(path: path, line: nil, rule: "cannot be read")
    }
    return data
  }
}
