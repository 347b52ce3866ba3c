/// The file that stores a user's web auth tokens until the next launch.
///
/// A web auth token identifies the user to the server. The server's answers can bring a newer token that replaces a
/// token of the sign-in page. The server accepts the replaced token for some minutes more.
struct StoredSession: Sendable {
  /// The tokens in the file.
  struct Content: Sendable, Hashable, Codable {
    /// The token that the user signed in with. It does not change until the user signs in again. The name of the folder
    /// of long-lived operations has a hash of it.
    var first: String
    /// The newest token, which the next request sends.
    var newest: String

    init(_ token: String) {
      first = token
      newest = token
    }
  }

  /// The path of the file. Its name is a hash of the server's URL and the configured token.
  private let path: String

  /// Creates the value for a configuration. A configuration without a token has a file too.
  init(_ configuration: PetrelConfiguration) {
    let identity = [configuration.serverURL.absoluteString, configuration.webAuthToken ?? ""]
    path =
      configuration.stateFolder + "/sessions/"
      + StableHash.text(of: identity.joined(separator: "\n").utf8)
  }

  /// Returns the tokens in the file; `nil` when there is no file.
  ///
  /// A file that is damaged or cannot be read counts as missing, and a warning on standard error names it.
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

  /// Writes the tokens to the file. No other user of the machine can read it. `nil` deletes the file.
  ///
  /// - Throws: `internalError` when the file cannot be written or deleted.
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
