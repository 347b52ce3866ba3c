/// The ID that stands for this user's installation on this machine when none is configured.
enum DeviceIdentity {
  /// The ID in the directory's file; the first call makes one. Programs that start at the same
  /// moment agree on one ID.
  static func persistent(in directory: URL) throws -> String {
    let file = directory.appendingPathComponent("device-id")
    if let existing = read(file) { return existing }
    let files = FileManager.default
    try PrivateFile.makeFolder(directory.path)
    let made = UUID().uuidString
    let draft = directory.appendingPathComponent("device-id.\(made)")
    let handle = try PrivateFile.make(at: draft.path)
    // A draft that stays is overwritten the next time.
    defer { try? files.removeItem(at: draft) }
    try handle.write(contentsOf: Data("\(made)\n".utf8))
    try handle.close()
    do {
      // A link either names the whole file or fails because another program was first.
      try files.linkItem(at: draft, to: file)
      return made
    } catch {
      if let existing = read(file) { return existing }
      throw error
    }
  }

  private static func read(_ file: URL) -> String? {
    // Where there is no file, or none that can be read, a new identity is made.
    guard let data = try? Data(contentsOf: file) else { return nil }
    let text = String(decoding: data, as: UTF8.self)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    return text.isEmpty ? nil : text
  }
}
