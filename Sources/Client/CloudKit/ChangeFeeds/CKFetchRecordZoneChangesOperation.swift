internal import CloudKitModel
internal import WebServices

/// An operation that fetches the records that have changed in zones, or were deleted from them.
/// Each zone has its own token: the position up to which the app has read the zone's feed.
///
/// For each record the operation reports the latest state, or the deletion. The reports have the
/// order of the last changes in the zone. After the changes of each answer, the operation reports
/// the token for the next fetch.
///
/// If a zone fails, ``recordZoneFetchResultBlock`` gets the error of the zone. The result of the
/// operation is `partialFailure` if every zone failed, and otherwise success. The deprecated
/// completion block gets `partialFailure` in both cases.
///
/// ```swift
/// let operation = CKFetchRecordZoneChangesOperation(
///   recordZoneIDs: [zoneID],
///   configurationsByRecordZoneID: [zoneID: .init(previousServerChangeToken: token)])
/// operation.recordWasChangedBlock = { recordID, result in … }
/// operation.recordWithIDWasDeletedBlock = { recordID, recordType in … }
/// operation.recordZoneFetchResultBlock = { zoneID, result in … }
/// CKContainer.default().privateCloudDatabase.add(operation)
/// ```
///
/// The errors of a zone:
///
/// - `changeTokenExpired`: the token belongs to another zone or server, or the zone was deleted and
///   created again after the token. Or the server no longer keeps deletions that are newer than the
///   token. Delete the cached records of the zone and start with `nil`.
/// - `userDeletedZone`: the zone was deleted outside of the app, by the operator of the server.
/// - `zoneNotFound`: the zone does not exist, for example because an app deleted it.
/// - `invalidArguments`: the zone is the default zone, which has no feed, or the token is the token
///   of a database.
///
/// The operation as a whole fails with `badDatabase` in the public database, and with
/// `invalidArguments` if a `resultsLimit` is negative.
open class CKFetchRecordZoneChangesOperation: CKDatabaseOperation, @unchecked Sendable {
  /// The options of a fetch for one zone.
  public typealias ZoneConfiguration = CKFetchRecordZoneChangesConfiguration
  /// The former name of ``ZoneConfiguration``.
  @available(*, deprecated, renamed: "ZoneConfiguration")
  public typealias ZoneOptions = CKFetchRecordZoneChangesConfiguration

  /// The zones to fetch; `nil` means the zones that have options in
  /// ``configurationsByRecordZoneID``. A zone that appears twice is fetched once.
  open var recordZoneIDs: [CKRecordZone.ID]?
  /// The options by zone. For a zone without options, the operation starts at the beginning of the
  /// feed.
  open var configurationsByRecordZoneID:
    [CKRecordZone.ID: CKFetchRecordZoneChangesOperation.ZoneConfiguration]?
  /// Whether the operation sends requests until no change is left; true unless set. If false, the
  /// operation ends after one answer, and each zone's result says whether more changes are
  /// available.
  open var fetchAllChanges = true

  /// Called for each record that is new or has changed, after the download of its assets.
  ///
  /// The result is `assetNotAvailable` when the server does not have the file of an asset any more.
  public var recordWasChangedBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
  /// Called for each record that was deleted, with the type that the record had.
  open var recordWithIDWasDeletedBlock: ((CKRecord.ID, CKRecord.RecordType) -> Void)?
  /// Called after the changes of each answer but the last one of a zone, with the token for the next
  /// fetch. ``recordZoneFetchResultBlock`` gets the last token, so the block is never called if
  /// ``fetchAllChanges`` is false.
  ///
  /// The data is the ``CKModifyRecordsOperation/clientChangeTokenData`` of the last change that
  /// this device made in the zone; `nil` if there is none.
  open var recordZoneChangeTokensUpdatedBlock:
    ((CKRecordZone.ID, CKServerChangeToken?, Data?) -> Void)?
  /// Called once for each zone: after the last change of the zone that the operation reports, or
  /// when the zone fails.
  public var recordZoneFetchResultBlock:
    (
      (
        CKRecordZone.ID,
        Result<
          (
            serverChangeToken: CKServerChangeToken, clientChangeTokenData: Data?, moreComing: Bool
          ), any Error
        >
      ) -> Void
    )?
  /// Called last. A failure means that the operation as a whole failed, for example because of the
  /// network, or that every zone failed: `partialFailure` then.
  public var fetchRecordZoneChangesResultBlock: ((Result<Void, any Error>) -> Void)?

  /// Called for each record that is new or has changed, after ``recordWasChangedBlock``. Records
  /// with an asset that cannot be downloaded are left out.
  @available(*, deprecated, message: "Use recordWasChangedBlock")
  open var recordChangedBlock: ((CKRecord) -> Void)? {
    get { formerRecordBlock }
    set { formerRecordBlock = newValue }
  }
  /// The value of ``recordChangedBlock``. The code of this module uses this property, because the
  /// public one causes a warning. `formerZoneBlock` and `formerCompletionBlock` exist for the same
  /// reason.
  private var formerRecordBlock: ((CKRecord) -> Void)?
  /// Called once for each zone, after ``recordZoneFetchResultBlock``. The data is
  /// `clientChangeTokenData`. The Boolean says whether more changes are available.
  @available(*, deprecated, message: "Use recordZoneFetchResultBlock")
  open var recordZoneFetchCompletionBlock:
    ((CKRecordZone.ID, CKServerChangeToken?, Data?, Bool, (any Error)?) -> Void)?
  {
    get { formerZoneBlock }
    set { formerZoneBlock = newValue }
  }
  private var formerZoneBlock:
    ((CKRecordZone.ID, CKServerChangeToken?, Data?, Bool, (any Error)?) -> Void)?
  /// Called last, after ``fetchRecordZoneChangesResultBlock``. The error is that of the operation,
  /// or `partialFailure` if only zones failed.
  @available(*, deprecated, message: "Use fetchRecordZoneChangesResultBlock")
  open var fetchRecordZoneChangesCompletionBlock: (((any Error)?) -> Void)? {
    get { formerCompletionBlock }
    set { formerCompletionBlock = newValue }
  }
  private var formerCompletionBlock: (((any Error)?) -> Void)?
  /// The former name of ``configurationsByRecordZoneID``.
  @available(*, deprecated, renamed: "configurationsByRecordZoneID")
  open var optionsByRecordZoneID: [CKRecordZone.ID: ZoneOptions]? {
    get { configurationsByRecordZoneID }
    set { configurationsByRecordZoneID = newValue }
  }

  /// The requests of the next call: one for each zone whose changes are not all fetched.
  private var pending: [RecordChangesRequest] = []
  private var itemErrors = ItemErrors()
  private var hasFetchedZone = false

  /// Creates an operation that fetches the changes of zones.
  ///
  /// - Parameters:
  ///   - recordZoneIDs: the zones; `nil` means the zones that have options.
  ///   - configurationsByRecordZoneID: the options by zone; `nil` means that each zone is read from
  ///     the beginning of its feed.
  public convenience init(
    recordZoneIDs: [CKRecordZone.ID]? = nil,
    configurationsByRecordZoneID: [CKRecordZone.ID:
      CKFetchRecordZoneChangesOperation.ZoneConfiguration]? = nil
  ) {
    self.init()
    self.recordZoneIDs = recordZoneIDs
    self.configurationsByRecordZoneID = configurationsByRecordZoneID
  }

  /// Creates an operation for zones and their options, under the former names.
  ///
  /// In Apple's framework `optionsByRecordZoneID` has the default `nil`. With that default, a call
  /// with only `recordZoneIDs` would be ambiguous here.
  @available(*, deprecated, message: "Use init(recordZoneIDs:configurationsByRecordZoneID:)")
  public convenience init(
    recordZoneIDs: [CKRecordZone.ID],
    optionsByRecordZoneID: [CKRecordZone.ID: ZoneOptions]?
  ) {
    self.init(
      recordZoneIDs: recordZoneIDs, configurationsByRecordZoneID: optionsByRecordZoneID)
  }

  override func firstCall() throws(CKError) -> ServiceCall? {
    try checkHasFeed()
    let configurations = configurationsByRecordZoneID ?? [:]
    var seen: Set<CKRecordZone.ID> = []
    for zoneID in recordZoneIDs ?? Array(configurations.keys) where seen.insert(zoneID).inserted {
      pending.append(try RecordChangesRequest(zoneID, configurations[zoneID]))
    }
    return nextCall()
  }

  private func nextCall() -> ServiceCall? {
    guard !pending.isEmpty else { return nil }
    return call(
      "changes/zone", body: ZoneChangesRequest(zones: pending).body(context: messageContext))
  }

  override func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? {
    let context = messageContext
    let response = try read { () throws(ServiceError) in
      try ZoneChangesResponse(parsing: answer.body, context: context)
    }
    let answers = try pair(pending, with: response.zones)
    pending = []
    return try report(answers[...])
  }

  /// Reports the answers for the zones, one zone after the other. Each zone may first need
  /// downloads of assets.
  ///
  /// - Parameter answers: the zones that are not reported yet, each with its page or error.
  /// - Returns: the next call: a download, or the request for the next pages. `nil` if the
  ///   operation needs no further call.
  private func report(
    _ answers: ArraySlice<(RecordChangesRequest, Result<RecordChangesResponse, FailedItem>)>
  ) throws(CKError) -> ServiceCall? {
    guard let (request, answer) = answers.first else { return nextCall() }
    let zoneID = CKRecordZone.ID(request.zoneID)
    switch answer {
    case .success(let page):
      return try report(page.changes) { [self] record, error in
        recordWasChangedBlock?(record.recordID, error.map { .failure($0) } ?? .success(record))
        if error == nil { formerRecordBlock?(record) }
      } deleted: { [self] recordID, recordType in
        recordWithIDWasDeletedBlock?(CKRecord.ID(recordID), recordType)
      } then: { [self] () throws(CKError) in
        finish(page, for: request)
        return try report(answers.dropFirst())
      }
    case .failure(let failed):
      let error = CKError(failed.error)
      itemErrors.add(error, for: zoneID)
      recordZoneFetchResultBlock?(zoneID, .failure(error))
      formerZoneBlock?(zoneID, nil, nil, false, error)
      return try report(answers.dropFirst())
    }
  }

  /// Completes a page after all its changes have been reported. Reports the token and adds the request
  /// for the zone's next page to ``pending``, or reports the result of the zone.
  private func finish(_ page: RecordChangesResponse, for request: RecordChangesRequest) {
    let zoneID = CKRecordZone.ID(request.zoneID)
    let token = CKServerChangeToken(syncToken: page.syncToken)
    if page.moreComing && fetchAllChanges {
      recordZoneChangeTokensUpdatedBlock?(zoneID, token, page.clientChangeTokenData)
      var next = request
      next.syncToken = page.syncToken
      pending.append(next)
    } else {
      hasFetchedZone = true
      let values = (token, page.clientChangeTokenData, page.moreComing)
      recordZoneFetchResultBlock?(zoneID, .success(values))
      formerZoneBlock?(zoneID, token, page.clientChangeTokenData, page.moreComing, nil)
    }
  }

  override func conclude(_ error: CKError?) {
    let partialFailure = itemErrors.partialFailure
    let failure = error ?? (hasFetchedZone ? nil : partialFailure)
    fetchRecordZoneChangesResultBlock?(failure.map { .failure($0) } ?? .success(()))
    formerCompletionBlock?(error ?? partialFailure)
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    recordWasChangedBlock = nil
    recordWithIDWasDeletedBlock = nil
    recordZoneChangeTokensUpdatedBlock = nil
    recordZoneFetchResultBlock = nil
    fetchRecordZoneChangesResultBlock = nil
    formerRecordBlock = nil
    formerZoneBlock = nil
    formerCompletionBlock = nil
  }
}

extension RecordChangesRequest {
  /// Throws `invalidArguments` when the `resultsLimit` is negative.
  fileprivate init(
    _ zoneID: CKRecordZone.ID, _ configuration: CKFetchRecordZoneChangesConfiguration?
  ) throws(CKError) {
    self.init(
      zoneID: zoneID.model, syncToken: configuration?.previousServerChangeToken?.syncToken)
    resultsLimit = configuration?.resultsLimit ?? 0
    desiredKeys = configuration?.desiredKeys.map { Set($0) }
    guard resultsLimit >= 0 else {
      throw CKError(
        .invalidArguments,
        "resultsLimit \(resultsLimit) of zone '\(zoneID.zoneName)' must not be negative")
    }
  }
}
