/// The file with the newest web auth token of a configuration, for the next launch.
///
/// The server replaces each token of the sign-in page with a newer one, and accepts the replaced tokens for some
/// minutes more.
struct StoredSession: Sendable {
  /// The tokens in the file.
  struct Content: Sendable, Hashable, Codable {
    /// The token that the user signed in with. This token identifies the user on this device, for example in the path
    /// of long-lived operations.
    var first: String
    /// The token that the server sent last, for the next request.
    var newest: String

    /// Creates the content for a user who has just signed in.
    init(_ token: String) {
      first = token
      newest = token
    }
  }

  /// The path of the file. Its name is a hash of the server's URL and the configured token.
  private let path: String

  /// Creates the session of a configuration. A configuration without a token has a session of its own.
  init(_ configuration: PetrelConfiguration) {
    let identity = [configuration.serverURL.absoluteString, configuration.webAuthToken ?? ""]
    path =
      configuration.stateFolder + "/sessions/"
      + StableHash.text(of: identity.joined(separator: "\n").utf8)
  }

  /// Returns the tokens in the file; `nil` when there is no file.
  ///
  /// A damaged file counts as missing, and a warning on standard error names it.
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

  /// Writes the tokens to the file, which only the program's user can read. `nil` removes the file.
  ///
  /// - Throws: `internalError` when the file cannot be written or removed.
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
