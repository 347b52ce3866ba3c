import CloudKit

extension Program {
  /// The names of all commands of a program, as its overview has them.
  static func commandNames(of name: String = "petrel") async throws -> [String] {
    let folder = NSTemporaryDirectory() + "petrel-words-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let program = try Program(name, ["--help"], in: folder)
    _ = try await program.end()
    return program.output.split(separator: "\n")
      .filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
      .map { $0.dropFirst(2).components(separatedBy: "  ")[0] }
  }
}
