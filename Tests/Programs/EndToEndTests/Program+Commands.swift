import CloudKit

extension Program {
  /// The names of all commands of `petrel`, as its lists of them have them.
  static func commandNames() async throws -> [String] {
    let folder = NSTemporaryDirectory() + "petrel-words-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    func names(_ words: String...) async throws -> [String] {
      let program = try Program("petrel", words, in: folder)
      _ = try await program.end()
      return program.output.split(separator: "\n")
        .filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
        .map { $0.dropFirst(2).components(separatedBy: "  ")[0] }
    }
    let overview = try await names("--help")
    var all = overview.filter { !$0.hasSuffix(" …") }
    for word in overview where word.hasSuffix(" …") {
      all += try await names("help", String(word.dropLast(2)))
    }
    return all
  }
}
