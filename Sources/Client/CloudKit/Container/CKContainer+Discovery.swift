extension CKContainer {
  // MARK: All users

  /// Looks for all users of the app who let themselves be found: those of the server, for there is
  /// no address book here.
  @available(*, deprecated, message: "No longer supported")
  public func discoverAllIdentities(
    completionHandler: @escaping ([CKUserIdentity]?, (any Error)?) -> Void
  ) {
    startDiscoveringAll { completionHandler($0.value, $0.error) }
  }

  /// Looks for all users of the app who let themselves be found: those of the server, for there is
  /// no address book here.
  @available(*, deprecated, message: "No longer supported")
  public func allUserIdentitiesFromContacts() async throws -> [CKUserIdentity] {
    try await CKOperation.result { self.startDiscoveringAll($0) }
  }

  // MARK: One user

  /// Looks for the user with this e-mail address; nil when there is none who lets themselves be found.
  @available(*, deprecated, message: "No longer supported")
  public func discoverUserIdentity(
    withEmailAddress email: String,
    completionHandler: @escaping (CKUserIdentity?, (any Error)?) -> Void
  ) {
    startDiscovering([LookupInfo(emailAddress: email)]) {
      completionHandler($0.value?.values.first, $0.error)
    }
  }

  /// Looks for the user with this e-mail address; nil when there is none who lets themselves be found.
  @available(*, deprecated, message: "No longer supported")
  public func userIdentity(
    forEmailAddress email: String
  ) async throws -> CKUserIdentity? {
    try await CKOperation.result { self.startDiscovering([LookupInfo(emailAddress: email)], $0) }
      .values.first
  }

  /// Looks for the user with this phone number; nil when there is none who lets themselves be found.
  @available(*, deprecated, message: "No longer supported")
  public func discoverUserIdentity(
    withPhoneNumber phoneNumber: String,
    completionHandler: @escaping (CKUserIdentity?, (any Error)?) -> Void
  ) {
    startDiscovering([LookupInfo(phoneNumber: phoneNumber)]) {
      completionHandler($0.value?.values.first, $0.error)
    }
  }

  /// Looks for the user with this phone number; nil when there is none who lets themselves be found.
  @available(*, deprecated, message: "No longer supported")
  public func userIdentity(
    forPhoneNumber phoneNumber: String
  ) async throws -> CKUserIdentity? {
    try await CKOperation.result {
      self.startDiscovering([LookupInfo(phoneNumber: phoneNumber)], $0)
    }
    .values.first
  }

  /// Looks for the user whose record this is; nil when there is none who lets themselves be found.
  @available(*, deprecated, message: "No longer supported")
  public func discoverUserIdentity(
    withUserRecordID userRecordID: CKRecord.ID,
    completionHandler: @escaping (CKUserIdentity?, (any Error)?) -> Void
  ) {
    startDiscovering([LookupInfo(userRecordID: userRecordID)]) {
      completionHandler($0.value?.values.first, $0.error)
    }
  }

  /// Looks for the user whose record this is; nil when there is none who lets themselves be found.
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

  /// Looks for the users with these e-mail addresses. Those who cannot be found are left out.
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

  /// Looks for the users with these e-mail addresses. Those who cannot be found are left out.
  @available(*, deprecated, message: "No longer supported")
  public func userIdentities(
    forEmailAddresses emails: [String]
  ) async throws -> [String: CKUserIdentity] {
    try await CKOperation.result {
      self.startDiscovering(emails.map { LookupInfo(emailAddress: $0) }, $0)
    }.keyed(by: \.emailAddress)
  }

  /// Looks for the users with these phone numbers. Those who cannot be found are left out.
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

  /// Looks for the users with these phone numbers. Those who cannot be found are left out.
  @available(*, deprecated, message: "No longer supported")
  public func userIdentities(
    forPhoneNumbers phoneNumbers: [String]
  ) async throws -> [String: CKUserIdentity] {
    try await CKOperation.result {
      self.startDiscovering(phoneNumbers.map { LookupInfo(phoneNumber: $0) }, $0)
    }.keyed(by: \.phoneNumber)
  }

  /// Looks for the users whose records these are. Those who cannot be found are left out.
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

  /// Looks for the users whose records these are. Those who cannot be found are left out.
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
