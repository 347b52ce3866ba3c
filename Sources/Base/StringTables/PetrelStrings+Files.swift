import Foundation

extension PetrelStrings {
  /// Reads the strings of a folder with the layout of an app's resources. The folder has either the
  /// file `Localizable.xcstrings`, or one folder for each language, such as `en.lproj`,
  /// `zh-Hans.lproj` and `Base.lproj`, with a file `Localizable.strings`.
  ///
  /// - Parameters:
  ///   - folder: the folder. Other files and folders in it are ignored.
  ///   - languages: the languages that the user prefers, the most preferred first.
  /// - Throws: ``PetrelStringsError`` with the file, the line if known, and the broken rule. The
  ///   causes are a folder without strings, a folder with both kinds of files, a file that cannot
  ///   be read, and a mistake in a file.
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

  /// Returns the paths of the files that ``init(contentsOf:languages:)`` reads in a folder.
  /// Programs that reload changed files watch these paths. `Localizable.xcstrings` comes first,
  /// even if it does not exist. The other paths are sorted.
  package static func files(in folder: URL) -> [String] {
    let catalog = folder.appendingPathComponent("Localizable.xcstrings").path
    // A folder that cannot be read counts as empty here. ``init(contentsOf:languages:)`` reports
    // the error.
    let others = (try? stringsFiles(in: folder)) ?? []
    return [catalog] + others.map(\.path)
  }

  /// Returns the path of each `Localizable.strings`, with the name of its `.lproj` folder.
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

  private static func data(of path: String) throws(PetrelStringsError) -> Data {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw PetrelStringsError(path: path, line: nil, rule: "cannot be read")
    }
    return data
  }
}
