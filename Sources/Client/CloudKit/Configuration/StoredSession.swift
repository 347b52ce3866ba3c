/// The web auth token that came after the one of a configuration, kept for the next launch: the server follows each token of
/// the sign-in page by another, and takes the former ones for some minutes more.
struct StoredSession: Sendable {
  struct Content: Sendable, Hashable, Codable {
    /// The token that the user signed in with, which stands for the user on this device.
    var first: String
    /// The one that the server gave last.
    var newest: String

    init(_ token: String) {
      first = token
      newest = token
    }
  }

  private let path: String

  /// The session that begins with the configuration's token, or with none.
  init(_ configuration: PetrelConfiguration) {
    let identity = [configuration.serverURL.absoluteString, configuration.webAuthToken ?? ""]
    path =
      configuration.stateFolder + "/sessions/"
      + StableHash.text(of: identity.joined(separator: "\n").utf8)
  }

  /// What was kept; nil where nothing was. A damaged file is named on standard error and counts as none.
  func content() -> Content? {
    do {
      return try SealedFile.read(path, as: .session).map {
        try JSONDecoder().decode(Content.self, from: $0)
      }
    } catch {
      PetrelConfiguration.warn(error.localizedDescription)
      return nil
    }
  }

  /// Keeps the tokens, in a file that the program's user alone can read; nil removes it.
  ///
  /// - Throws: `internalError` when the disk does not take it.
  func keep(_ content: Content?) throws(CKError) {
    guard let content else {
      guard unlink(path) == 0 || errno == ENOENT else {
        throw CKError(
          .internalError, "\(path) cannot be removed: \(String(cString: strerror(errno)))")
      }
      return
    }
    let data: Data
    do {
      data = try JSONEncoder().encode(content)
      try PrivateFile.makeFolder((path as NSString).deletingLastPathComponent)
    } catch {
      throw CKError(.internalError, error.localizedDescription)
    }
    try SealedFile.seal(data, as: .session, at: path)
  }
}
