/// The device ID of this user on this machine, for configurations that name no device.
enum DeviceIdentity {
  /// Returns the ID in the file `device-id` of a directory. The first call creates the directory
  /// and the file, with a new UUID.
  ///
  /// Each program writes its new ID to a draft, which is a file with a name of its own. Then the
  /// program links the draft to the name `device-id`. If several programs start at the same moment,
  /// only one link succeeds, and all use its ID.
  ///
  /// - Throws: the error of the file system when the file cannot be created.
  static func persistent(in directory: URL) throws -> String {
    let file = directory.appendingPathComponent("device-id")
    if let existing = read(file) { return existing }
    let files = FileManager.default
    try PrivateFile.makeFolder(directory.path)
    let made = UUID().uuidString
    let draft = directory.appendingPathComponent("device-id.\(made)")
    let handle = try PrivateFile.make(at: draft.path)
    // A draft that cannot be removed does no harm: no other draft has its name.
    defer { try? files.removeItem(at: draft) }
    try handle.write(contentsOf: Data("\(made)\n".utf8))
    try handle.close()
    do {
      // A hard link either gives the name to the whole file, or fails because another program was
      // first.
      try files.linkItem(at: draft, to: file)
      return made
    } catch {
      if let existing = read(file) { return existing }
      throw error
    }
  }

  private static func read(_ file: URL) -> String? {
    // An unreadable file counts as missing. The caller then tries to create the file.
    guard let data = try? Data(contentsOf: file) else { return nil }
    let text = String(decoding: data, as: UTF8.self)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    return text.isEmpty ? nil : text
  }
}
