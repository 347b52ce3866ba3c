/// The web auth token that came after the one of a configuration, kept for the next launch: the server follows each token of
/// the sign-in page by another, and takes the former ones for some minutes more.
struct StoredSession: Sendable {
  private let path: String

  /// The session that begins with the configuration's token, or with none.
  init(_ configuration: PetrelConfiguration) {
    let identity = [configuration.serverURL.absoluteString, configuration.webAuthToken ?? ""]
    path =
      configuration.stateFolder + "/sessions/"
      + StableHash.text(of: identity.joined(separator: "\n").utf8)
  }

  /// The token; nil where none was kept. A damaged file is told on standard error and counts as none.
  func token() -> String? {
    do throws(CKError) {
      return try SealedFile.read(path, as: .session).map { String(decoding: $0, as: UTF8.self) }
    } catch {
      PetrelConfiguration.warn(error.localizedDescription)
      return nil
    }
  }

  /// Keeps a token, in a file that the program's user alone can read; nil removes it.
  ///
  /// - Throws: `internalError` when the disk does not take it.
  func keep(_ token: String?) throws(CKError) {
    guard let token else {
      guard unlink(path) == 0 || errno == ENOENT else {
        throw CKError(
          .internalError, "\(path) cannot be removed: \(String(cString: strerror(errno)))")
      }
      return
    }
    do {
      try PrivateFile.makeFolder((path as NSString).deletingLastPathComponent)
    } catch {
      throw CKError(.internalError, error.localizedDescription)
    }
    try SealedFile.seal(Data(token.utf8), as: .session, at: path)
  }
}
