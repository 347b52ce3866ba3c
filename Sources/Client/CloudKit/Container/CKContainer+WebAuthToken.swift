extension CKContainer {
  /// The web auth token that names the user to the server; `nil` when no user is signed in.
  ///
  /// This property is an addition of Petrel. On Apple's systems the account of the device names the user.
  ///
  /// The token changes while the program runs, because the server replaces each token of its sign-in page with a newer
  /// one. The client keeps the newest token in the folder `sessions` of ``PetrelConfiguration/stateDirectory``. A later
  /// launch with the same configuration continues with that token.
  public var webAuthToken: String? { client.value?.webAuthToken }

  /// Signs the program's user in with a token of the sign-in page, and keeps the token for later launches.
  ///
  /// This method is an addition of Petrel.
  ///
  /// If another token was set before, the server sends this device no more pushes for the user of that token. The
  /// method starts the request for it and does not wait. An app that signs a user in registers the device again, by
  /// ``registerForRemoteNotifications(deviceToken:apnsEnvironment:bundleID:)``. An app that has to know that the
  /// registration has ended calls ``unregisterForRemoteNotifications()`` before.
  ///
  /// ```swift
  /// try CKContainer.default().setWebAuthToken(token)
  /// ```
  ///
  /// - Parameter token: the token; `nil` signs the user out and deletes the kept token. After `nil`, the next launch
  ///   uses the token of the configuration again, if there is one.
  /// - Throws: `badContainer` when the configuration is wrong. `internalError` when the token cannot be written to the
  ///   disk or deleted from it. The change then applies to this launch only.
  public func setWebAuthToken(_ token: String?) throws {
    let client = try client.get()
    if let former = client.replaceWebAuthToken(token) { startUnregistering(asUserOf: former) }
    try client.keepSession()
  }
}
