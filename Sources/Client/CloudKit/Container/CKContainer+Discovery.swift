extension CKContainer {
  // MARK: All users

  /// Finds all other users of the app who allow others to find them.
  ///
  /// Petrel has no address book, so the search covers the users of the server. The server returns at most 1,000 of
  /// them.
  ///
  /// - Parameter completionHandler: called on a background queue with the users, or with `notAuthenticated` when no
  ///   user is signed in.
  @available(*, deprecated, message: "No longer supported")
  public func discoverAllIdentities(
    completionHandler: @escaping ([CKUserIdentity]?, (any Error)?) -> Void
  ) {
    startDiscoveringAll { completionHandler($0.value, $0.error) }
  }

  /// Finds all other users of the app who allow others to find them.
  ///
  /// Petrel has no address book, so the search covers the users of the server. The server returns at most 1,000 of
  /// them.
  ///
  /// - Throws: `notAuthenticated` when no user is signed in.
  @available(*, deprecated, message: "No longer supported")
  public func allUserIdentitiesFromContacts() async throws -> [CKUserIdentity] {
    try await CKOperation.result { self.startDiscoveringAll($0) }
  }

  // MARK: One user

  /// Finds a user of the app by an e-mail address. Letter case does not matter.
  ///
  /// - Parameter completionHandler: called on a background queue. The identity is `nil` if there is no such user, or if
  ///   the user does not allow others to find them.
  @available(*, deprecated, message: "No longer supported")
  public func discoverUserIdentity(
    withEmailAddress email: String,
    completionHandler: @escaping (CKUserIdentity?, (any Error)?) -> Void
  ) {
    startDiscovering([LookupInfo(emailAddress: email)]) {
      completionHandler($0.value?.values.first, $0.error)
    }
  }

  /// Returns the user of the app with the given e-mail address. Letter case does not matter.
  ///
  /// The result is `nil` if there is no such user, or if the user does not allow others to find them.
  ///
  /// - Throws: `notAuthenticated` when no user is signed in.
  @available(*, deprecated, message: "No longer supported")
  public func userIdentity(
    forEmailAddress email: String
  ) async throws -> CKUserIdentity? {
    try await CKOperation.result { self.startDiscovering([LookupInfo(emailAddress: email)], $0) }
      .values.first
  }

  /// Finds a user of the app by a phone number. Spaces and punctuation do not matter.
  ///
  /// - Parameter completionHandler: called on a background queue. The identity is `nil` if there is no such user, or if
  ///   the user does not allow others to find them.
  @available(*, deprecated, message: "No longer supported")
  public func discoverUserIdentity(
    withPhoneNumber phoneNumber: String,
    completionHandler: @escaping (CKUserIdentity?, (any Error)?) -> Void
  ) {
    startDiscovering([LookupInfo(phoneNumber: phoneNumber)]) {
      completionHandler($0.value?.values.first, $0.error)
    }
  }

  /// Returns the user of the app with the given phone number. Spaces and punctuation do not matter.
  ///
  /// The result is `nil` if there is no such user, or if the user does not allow others to find them.
  ///
  /// - Throws: `notAuthenticated` when no user is signed in.
  @available(*, deprecated, message: "No longer supported")
  public func userIdentity(
    forPhoneNumber phoneNumber: String
  ) async throws -> CKUserIdentity? {
    try await CKOperation.result {
      self.startDiscovering([LookupInfo(phoneNumber: phoneNumber)], $0)
    }
    .values.first
  }

  /// Finds a user of the app by the ID of the user record.
  ///
  /// - Parameter completionHandler: called on a background queue. The identity is `nil` if there is no such user, or if
  ///   the user does not allow others to find them.
  @available(*, deprecated, message: "No longer supported")
  public func discoverUserIdentity(
    withUserRecordID userRecordID: CKRecord.ID,
    completionHandler: @escaping (CKUserIdentity?, (any Error)?) -> Void
  ) {
    startDiscovering([LookupInfo(userRecordID: userRecordID)]) {
      completionHandler($0.value?.values.first, $0.error)
    }
  }

  /// Returns the user of the app whose user record has the given ID.
  ///
  /// The result is `nil` if there is no such user, or if the user does not allow others to find them.
  ///
  /// - Throws: `notAuthenticated` when no user is signed in.
  @available(*, deprecated, message: "No longer supported")
  public func userIdentity(
    forUserRecordID userRecordID: CKRecord.ID
  ) async throws -> CKUserIdentity? {
    try await CKOperation.result {
      self.startDiscovering([LookupInfo(userRecordID: userRecordID)], $0)
    }
    .values.first
  }

  // MARK: Several users

  /// Finds users of the app by e-mail addresses. Letter case does not matter.
  ///
  /// - Parameter completionHandler: called on a background queue with the identities by e-mail address. The dictionary
  ///   has only users who exist and allow others to find them.
  @available(*, deprecated, message: "No longer supported")
  @preconcurrency
  public func discoverUserIdentities(
    forEmailAddresses emails: [String],
    completionHandler: @escaping @Sendable (Result<[String: CKUserIdentity], any Error>) -> Void
  ) {
    startDiscovering(emails.map { LookupInfo(emailAddress: $0) }) {
      completionHandler($0.map { $0.keyed(by: \.emailAddress) })
    }
  }

  /// Returns users of the app by e-mail addresses. Letter case does not matter.
  ///
  /// The dictionary has only users who exist and allow others to find them.
  ///
  /// - Throws: `notAuthenticated` when no user is signed in.
  @available(*, deprecated, message: "No longer supported")
  public func userIdentities(
    forEmailAddresses emails: [String]
  ) async throws -> [String: CKUserIdentity] {
    try await CKOperation.result {
      self.startDiscovering(emails.map { LookupInfo(emailAddress: $0) }, $0)
    }.keyed(by: \.emailAddress)
  }

  /// Finds users of the app by phone numbers. Spaces and punctuation do not matter.
  ///
  /// - Parameter completionHandler: called on a background queue with the identities by phone number. The dictionary
  ///   has only users who exist and allow others to find them.
  @available(*, deprecated, message: "No longer supported")
  @preconcurrency
  public func discoverUserIdentities(
    forPhoneNumbers phoneNumbers: [String],
    completionHandler: @escaping @Sendable (Result<[String: CKUserIdentity], any Error>) -> Void
  ) {
    startDiscovering(phoneNumbers.map { LookupInfo(phoneNumber: $0) }) {
      completionHandler($0.map { $0.keyed(by: \.phoneNumber) })
    }
  }

  /// Returns users of the app by phone numbers. Spaces and punctuation do not matter.
  ///
  /// The dictionary has only users who exist and allow others to find them.
  ///
  /// - Throws: `notAuthenticated` when no user is signed in.
  @available(*, deprecated, message: "No longer supported")
  public func userIdentities(
    forPhoneNumbers phoneNumbers: [String]
  ) async throws -> [String: CKUserIdentity] {
    try await CKOperation.result {
      self.startDiscovering(phoneNumbers.map { LookupInfo(phoneNumber: $0) }, $0)
    }.keyed(by: \.phoneNumber)
  }

  /// Finds users of the app by user record IDs.
  ///
  /// - Parameter completionHandler: called on a background queue with the identities by user record ID. The dictionary
  ///   has only users who exist and allow others to find them.
  @available(*, deprecated, message: "No longer supported")
  @preconcurrency
  public func discoverUserIdentities(
    forUserRecordIDs userRecordIDs: [CKRecord.ID],
    completionHandler:
      @escaping @Sendable (Result<[CKRecord.ID: CKUserIdentity], any Error>) -> Void
  ) {
    startDiscovering(userRecordIDs.map { LookupInfo(userRecordID: $0) }) {
      completionHandler($0.map { $0.keyed(by: \.userRecordID) })
    }
  }

  /// Returns users of the app by user record IDs.
  ///
  /// The dictionary has only users who exist and allow others to find them.
  ///
  /// - Throws: `notAuthenticated` when no user is signed in.
  @available(*, deprecated, message: "No longer supported")
  public func userIdentities(
    forUserRecordIDs userRecordIDs: [CKRecord.ID]
  ) async throws -> [CKRecord.ID: CKUserIdentity] {
    try await CKOperation.result {
      self.startDiscovering(userRecordIDs.map { LookupInfo(userRecordID: $0) }, $0)
    }.keyed(by: \.userRecordID)
  }
}

// MARK: - The operations

extension CKContainer {
  private typealias LookupInfo = CKUserIdentity.LookupInfo

  /// Queues the operation that finds the users whom `lookupInfos` names. With an empty list, the operation succeeds
  /// without a request.
  @discardableResult
  private func startDiscovering(
    _ lookupInfos: [LookupInfo],
    _ completion: @escaping (Result<[LookupInfo: CKUserIdentity], any Error>) -> Void
  ) -> CKOperation {
    let operation = DiscoverUsersOperation()
    operation.lookupInfos = lookupInfos
    operation.completion = { completion($0.map { $0.byLookup }) }
    return run(operation)
  }

  @discardableResult
  private func startDiscoveringAll(
    _ completion: @escaping (Result<[CKUserIdentity], any Error>) -> Void
  ) -> CKOperation {
    let operation = DiscoverUsersOperation()
    operation.completion = { completion($0.map { $0.all }) }
    return run(operation)
  }
}
