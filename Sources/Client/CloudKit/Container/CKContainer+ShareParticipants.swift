extension CKContainer {
  // MARK: One participant

  /// Makes a participant of the user with this e-mail address; see `CKFetchShareParticipantsOperation`.
  public func fetchShareParticipant(
    withEmailAddress emailAddress: String,
    completionHandler: @escaping (CKShare.Participant?, (any Error)?) -> Void
  ) {
    startFetchingParticipants([LookupInfo(emailAddress: emailAddress)]) { items, whole in
      let result = items.single(whole)
      completionHandler(result.value, result.error)
    }
  }

  /// Makes a participant of the user with this e-mail address; see `CKFetchShareParticipantsOperation`.
  public func shareParticipant(
    forEmailAddress emailAddress: String
  ) async throws -> CKShare.Participant {
    try await CKOperation.result { completion in
      self.startFetchingParticipants([LookupInfo(emailAddress: emailAddress)]) {
        completion($0.single($1))
      }
    }
  }

  /// Makes a participant of the user with this phone number; see `CKFetchShareParticipantsOperation`.
  public func fetchShareParticipant(
    withPhoneNumber phoneNumber: String,
    completionHandler: @escaping (CKShare.Participant?, (any Error)?) -> Void
  ) {
    startFetchingParticipants([LookupInfo(phoneNumber: phoneNumber)]) { items, whole in
      let result = items.single(whole)
      completionHandler(result.value, result.error)
    }
  }

  /// Makes a participant of the user with this phone number; see `CKFetchShareParticipantsOperation`.
  public func shareParticipant(
    forPhoneNumber phoneNumber: String
  ) async throws -> CKShare.Participant {
    try await CKOperation.result { completion in
      self.startFetchingParticipants([LookupInfo(phoneNumber: phoneNumber)]) {
        completion($0.single($1))
      }
    }
  }

  /// Makes a participant of the user whose record this is; see `CKFetchShareParticipantsOperation`.
  public func fetchShareParticipant(
    withUserRecordID userRecordID: CKRecord.ID,
    completionHandler: @escaping (CKShare.Participant?, (any Error)?) -> Void
  ) {
    startFetchingParticipants([LookupInfo(userRecordID: userRecordID)]) { items, whole in
      let result = items.single(whole)
      completionHandler(result.value, result.error)
    }
  }

  /// Makes a participant of the user whose record this is; see `CKFetchShareParticipantsOperation`.
  public func shareParticipant(
    forUserRecordID userRecordID: CKRecord.ID
  ) async throws -> CKShare.Participant {
    try await CKOperation.result { completion in
      self.startFetchingParticipants([LookupInfo(userRecordID: userRecordID)]) {
        completion($0.single($1))
      }
    }
  }

  // MARK: Several participants

  /// Makes participants of the users with these e-mail addresses; see `CKFetchShareParticipantsOperation`.
  @preconcurrency
  public func fetchShareParticipants(
    forEmailAddresses emailAddresses: [String],
    completionHandler:
      @escaping @Sendable (
        Result<[String: Result<CKShare.Participant, any Error>], any Error>
      ) -> Void
  ) {
    startFetchingParticipants(emailAddresses.map { LookupInfo(emailAddress: $0) }) {
      completionHandler($0.all($1).map { $0.keyed(by: \.emailAddress) })
    }
  }

  /// Makes participants of the users with these e-mail addresses; see `CKFetchShareParticipantsOperation`.
  public func shareParticipants(
    forEmailAddresses emailAddresses: [String]
  ) async throws -> [String: Result<CKShare.Participant, any Error>] {
    try await CKOperation.result { completion in
      self.startFetchingParticipants(emailAddresses.map { LookupInfo(emailAddress: $0) }) {
        completion($0.all($1).map { $0.keyed(by: \.emailAddress) })
      }
    }
  }

  /// Makes participants of the users with these phone numbers; see `CKFetchShareParticipantsOperation`.
  @preconcurrency
  public func fetchShareParticipants(
    forPhoneNumbers phoneNumbers: [String],
    completionHandler:
      @escaping @Sendable (
        Result<[String: Result<CKShare.Participant, any Error>], any Error>
      ) -> Void
  ) {
    startFetchingParticipants(phoneNumbers.map { LookupInfo(phoneNumber: $0) }) {
      completionHandler($0.all($1).map { $0.keyed(by: \.phoneNumber) })
    }
  }

  /// Makes participants of the users with these phone numbers; see `CKFetchShareParticipantsOperation`.
  public func shareParticipants(
    forPhoneNumbers phoneNumbers: [String]
  ) async throws -> [String: Result<CKShare.Participant, any Error>] {
    try await CKOperation.result { completion in
      self.startFetchingParticipants(phoneNumbers.map { LookupInfo(phoneNumber: $0) }) {
        completion($0.all($1).map { $0.keyed(by: \.phoneNumber) })
      }
    }
  }

  /// Makes participants of the users whose records these are; see `CKFetchShareParticipantsOperation`.
  @preconcurrency
  public func fetchShareParticipants(
    forUserRecordIDs userRecordIDs: [CKRecord.ID],
    completionHandler:
      @escaping @Sendable (
        Result<[CKRecord.ID: Result<CKShare.Participant, any Error>], any Error>
      ) -> Void
  ) {
    startFetchingParticipants(userRecordIDs.map { LookupInfo(userRecordID: $0) }) {
      completionHandler($0.all($1).map { $0.keyed(by: \.userRecordID) })
    }
  }

  /// Makes participants of the users whose records these are; see `CKFetchShareParticipantsOperation`.
  public func shareParticipants(
    forUserRecordIDs userRecordIDs: [CKRecord.ID]
  ) async throws -> [CKRecord.ID: Result<CKShare.Participant, any Error>] {
    try await CKOperation.result { completion in
      self.startFetchingParticipants(userRecordIDs.map { LookupInfo(userRecordID: $0) }) {
        completion($0.all($1).map { $0.keyed(by: \.userRecordID) })
      }
    }
  }

  /// Makes participants of those who are looked up; see `CKFetchShareParticipantsOperation`.
  public func shareParticipants(
    for lookupInfos: [CKUserIdentity.LookupInfo]
  ) async throws -> [CKUserIdentity.LookupInfo: Result<CKShare.Participant, any Error>] {
    try await CKOperation.result { completion in
      self.startFetchingParticipants(lookupInfos) { completion($0.all($1)) }
    }
  }
}

// MARK: - The operation

extension CKContainer {
  private typealias LookupInfo = CKUserIdentity.LookupInfo

  @discardableResult
  private func startFetchingParticipants(
    _ lookupInfos: [LookupInfo],
    _ completion:
      @escaping (ItemResults<LookupInfo, CKShare.Participant>, Result<Void, any Error>) -> Void
  ) -> CKOperation {
    let items = ItemResults<LookupInfo, CKShare.Participant>()
    let operation = CKFetchShareParticipantsOperation(userIdentityLookupInfos: lookupInfos)
    operation.perShareParticipantResultBlock = { items.add($0, $1) }
    operation.fetchShareParticipantsResultBlock = { completion(items, $0) }
    return run(operation)
  }
}
