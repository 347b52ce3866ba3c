extension CKContainer {
  // MARK: One participant

  /// Fetches a participant for a share by an e-mail address; see ``CKFetchShareParticipantsOperation``.
  ///
  /// If no user is found, the participant has no account. Such a participant can be invited too. Add the participant to
  /// a ``CKShare`` and save the share.
  ///
  /// - Parameter completionHandler: called on a background queue.
  public func fetchShareParticipant(
    withEmailAddress emailAddress: String,
    completionHandler: @escaping (CKShare.Participant?, (any Error)?) -> Void
  ) {
    startFetchingParticipants([LookupInfo(emailAddress: emailAddress)]) { items, whole in
      let result = items.single(whole)
      completionHandler(result.value, result.error)
    }
  }

  /// Returns a participant for a share by an e-mail address; see ``CKFetchShareParticipantsOperation``.
  ///
  /// If no user is found, the participant has no account. Such a participant can be invited too. Add the participant to
  /// a ``CKShare`` and save the share.
  ///
  /// - Throws: `notAuthenticated` when no user is signed in.
  public func shareParticipant(
    forEmailAddress emailAddress: String
  ) async throws -> CKShare.Participant {
    try await CKOperation.result { completion in
      self.startFetchingParticipants([LookupInfo(emailAddress: emailAddress)]) {
        completion($0.single($1))
      }
    }
  }

  /// Fetches a participant for a share by a phone number; see ``CKFetchShareParticipantsOperation``.
  ///
  /// If no user is found, the participant has no account. Such a participant can be invited too. Add the participant to
  /// a ``CKShare`` and save the share.
  ///
  /// - Parameter completionHandler: called on a background queue.
  public func fetchShareParticipant(
    withPhoneNumber phoneNumber: String,
    completionHandler: @escaping (CKShare.Participant?, (any Error)?) -> Void
  ) {
    startFetchingParticipants([LookupInfo(phoneNumber: phoneNumber)]) { items, whole in
      let result = items.single(whole)
      completionHandler(result.value, result.error)
    }
  }

  /// Returns a participant for a share by a phone number; see ``CKFetchShareParticipantsOperation``.
  ///
  /// If no user is found, the participant has no account. Such a participant can be invited too. Add the participant to
  /// a ``CKShare`` and save the share.
  ///
  /// - Throws: `notAuthenticated` when no user is signed in.
  public func shareParticipant(
    forPhoneNumber phoneNumber: String
  ) async throws -> CKShare.Participant {
    try await CKOperation.result { completion in
      self.startFetchingParticipants([LookupInfo(phoneNumber: phoneNumber)]) {
        completion($0.single($1))
      }
    }
  }

  /// Fetches a participant for a share by the ID of a user record; see ``CKFetchShareParticipantsOperation``.
  ///
  /// Add the participant to a ``CKShare`` and save the share.
  ///
  /// - Parameter completionHandler: called on a background queue.
  public func fetchShareParticipant(
    withUserRecordID userRecordID: CKRecord.ID,
    completionHandler: @escaping (CKShare.Participant?, (any Error)?) -> Void
  ) {
    startFetchingParticipants([LookupInfo(userRecordID: userRecordID)]) { items, whole in
      let result = items.single(whole)
      completionHandler(result.value, result.error)
    }
  }

  /// Returns a participant for a share by the ID of a user record; see ``CKFetchShareParticipantsOperation``.
  ///
  /// Add the participant to a ``CKShare`` and save the share.
  ///
  /// - Throws: `notAuthenticated` when no user is signed in.
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

  /// Fetches participants for a share by e-mail addresses; see ``CKFetchShareParticipantsOperation``.
  ///
  /// If no user is found, the participant has no account. Such a participant can be invited too.
  ///
  /// - Parameter completionHandler: called on a background queue with a result for each e-mail address.
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

  /// Returns participants for a share by e-mail addresses; see ``CKFetchShareParticipantsOperation``.
  ///
  /// If no user is found, the participant has no account. Such a participant can be invited too.
  ///
  /// - Returns: a result for each e-mail address.
  /// - Throws: `notAuthenticated` when no user is signed in.
  public func shareParticipants(
    forEmailAddresses emailAddresses: [String]
  ) async throws -> [String: Result<CKShare.Participant, any Error>] {
    try await CKOperation.result { completion in
      self.startFetchingParticipants(emailAddresses.map { LookupInfo(emailAddress: $0) }) {
        completion($0.all($1).map { $0.keyed(by: \.emailAddress) })
      }
    }
  }

  /// Fetches participants for a share by phone numbers; see ``CKFetchShareParticipantsOperation``.
  ///
  /// If no user is found, the participant has no account. Such a participant can be invited too.
  ///
  /// - Parameter completionHandler: called on a background queue with a result for each phone number.
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

  /// Returns participants for a share by phone numbers; see ``CKFetchShareParticipantsOperation``.
  ///
  /// If no user is found, the participant has no account. Such a participant can be invited too.
  ///
  /// - Returns: a result for each phone number.
  /// - Throws: `notAuthenticated` when no user is signed in.
  public func shareParticipants(
    forPhoneNumbers phoneNumbers: [String]
  ) async throws -> [String: Result<CKShare.Participant, any Error>] {
    try await CKOperation.result { completion in
      self.startFetchingParticipants(phoneNumbers.map { LookupInfo(phoneNumber: $0) }) {
        completion($0.all($1).map { $0.keyed(by: \.phoneNumber) })
      }
    }
  }

  /// Fetches participants for a share by user record IDs; see ``CKFetchShareParticipantsOperation``.
  ///
  /// A user who cannot be found has the error `unknownItem` as the result.
  ///
  /// - Parameter completionHandler: called on a background queue with a result for each user record ID.
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

  /// Returns participants for a share by user record IDs; see ``CKFetchShareParticipantsOperation``.
  ///
  /// A user who cannot be found has the error `unknownItem` as the result.
  ///
  /// - Returns: a result for each user record ID.
  /// - Throws: `notAuthenticated` when no user is signed in.
  public func shareParticipants(
    forUserRecordIDs userRecordIDs: [CKRecord.ID]
  ) async throws -> [CKRecord.ID: Result<CKShare.Participant, any Error>] {
    try await CKOperation.result { completion in
      self.startFetchingParticipants(userRecordIDs.map { LookupInfo(userRecordID: $0) }) {
        completion($0.all($1).map { $0.keyed(by: \.userRecordID) })
      }
    }
  }

  /// Returns participants for a share by lookup infos of any kind; see ``CKFetchShareParticipantsOperation``.
  ///
  /// - Returns: a result for each lookup info.
  /// - Throws: `notAuthenticated` when no user is signed in.
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

  /// Queues the operation that fetches participants.
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
