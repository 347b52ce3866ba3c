extension CKContainer {
  /// The web auth token that names the user to the server; nil where nobody is signed in. Petrel's own: on Apple's systems
  /// the device's account stands for the user.
  ///
  /// It changes while the program runs, for the server follows each token of its sign-in page by another. The newest is kept in
  /// `petrel/sessions` in the user's state directory (``PetrelConfiguration/stateDirectory``), and a later launch with the
  /// same configuration goes on with it.
  public var webAuthToken: String? { client.value?.webAuthToken }

  /// Signs the program's user in with a token of the sign-in page, and keeps it for later launches; nil signs the user out,
  /// and removes what was kept. Petrel's own.
  ///
  /// ```swift
  /// try CKContainer.default().setWebAuthToken(token)
  /// ```
  ///
  /// A token that the configuration names counts again at the next launch after nil.
  ///
  /// - Throws: `badContainer` when the configuration is no good; `internalError` when the disk does not take the token, which
  ///   then holds for this launch alone.
  public func setWebAuthToken(_ token: String?) throws {
    try client.get().setWebAuthToken(token)
  }
}
