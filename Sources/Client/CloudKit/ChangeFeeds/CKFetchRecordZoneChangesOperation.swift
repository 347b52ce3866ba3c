internal import CloudKitModel
internal import WebServices

/// Fetches what became of the records of zones since a token for each zone.
///
/// Each record is told of once, by its latest state or as deleted, in the order of the last changes
/// of its zone; then comes the token that stands for them. A zone that fails has its own error, and
/// the operation's result is success; only the deprecated completion block gets these errors
/// together, as `partialFailure`.
///
/// - `changeTokenExpired`: the token is from before the zone was deleted and made again, or from
///   before deletions that the server has forgotten. Drop the zone's records and start without one.
/// - `userDeletedZone`: the zone was deleted; `zoneNotFound`: there never was one.
/// - `invalidArguments`: the default zone, which has no feed, or a token of another kind.
open class CKFetchRecordZoneChangesOperation: CKDatabaseOperation, @unchecked Sendable {
  public typealias ZoneConfiguration = CKFetchRecordZoneChangesConfiguration
  /// The former name of ``ZoneConfiguration``.
  @available(*, deprecated, renamed: "ZoneConfiguration")
  public typealias ZoneOptions = CKFetchRecordZoneChangesConfiguration

  /// The zones; nil means those that have a configuration.
  open var recordZoneIDs: [CKRecordZone.ID]?
  /// What to fetch of each zone; without a configuration, everything.
  open var configurationsByRecordZoneID:
    [CKRecordZone.ID: CKFetchRecordZoneChangesOperation.ZoneConfiguration]?
  /// Whether the operation asks on until nothing is left; otherwise it ends after one answer, and
  /// says for each zone whether more is coming.
  open var fetchAllChanges = true

  public var recordWasChangedBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
  open var recordWithIDWasDeletedBlock: ((CKRecord.ID, CKRecord.RecordType) -> Void)?
  /// Called after the changes of each answer, with the token that stands for them and what this
  /// device gave as `clientChangeTokenData` when it last changed the zone.
  open var recordZoneChangeTokensUpdatedBlock:
    ((CKRecordZone.ID, CKServerChangeToken?, Data?) -> Void)?
  /// Called once for each zone, when it is done.
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
  public var fetchRecordZoneChangesResultBlock: ((Result<Void, any Error>) -> Void)?

  /// Called for each record that is not gone.
  @available(*, deprecated, message: "Use recordWasChangedBlock")
  open var recordChangedBlock: ((CKRecord) -> Void)? {
    get { formerRecordBlock }
    set { formerRecordBlock = newValue }
  }
  private var formerRecordBlock: ((CKRecord) -> Void)?
  /// Called once for each zone. The flag says whether more is coming.
  @available(*, deprecated, message: "Use recordZoneFetchResultBlock")
  open var recordZoneFetchCompletionBlock:
    ((CKRecordZone.ID, CKServerChangeToken?, Data?, Bool, (any Error)?) -> Void)?
  {
    get { formerZoneBlock }
    set { formerZoneBlock = newValue }
  }
  private var formerZoneBlock:
    ((CKRecordZone.ID, CKServerChangeToken?, Data?, Bool, (any Error)?) -> Void)?
  /// Called last.
  @available(*, deprecated, message: "Use fetchRecordZoneChangesResultBlock")
  open var fetchRecordZoneChangesCompletionBlock: (((any Error)?) -> Void)? {
    get { formerCompletionBlock }
    set { formerCompletionBlock = newValue }
  }
  private var formerCompletionBlock: (((any Error)?) -> Void)?
  @available(*, deprecated, renamed: "configurationsByRecordZoneID")
  open var optionsByRecordZoneID: [CKRecordZone.ID: ZoneOptions]? {
    get { configurationsByRecordZoneID }
    set { configurationsByRecordZoneID = newValue }
  }

  private var pending: [RecordChangesRequest] = []
  private var itemErrors = ItemErrors()

  public convenience init(
    recordZoneIDs: [CKRecordZone.ID]? = nil,
    configurationsByRecordZoneID: [CKRecordZone.ID:
      CKFetchRecordZoneChangesOperation.ZoneConfiguration]? = nil
  ) {
    self.init()
    self.recordZoneIDs = recordZoneIDs
    self.configurationsByRecordZoneID = configurationsByRecordZoneID
  }

  /// Apple's has a default of nil for the options, which makes a call with zones alone ambiguous.
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

  /// Reports the answers for zones one after the other, for the assets of one take their time.
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

  /// All changes of a page were reported.
  private func finish(_ page: RecordChangesResponse, for request: RecordChangesRequest) {
    let zoneID = CKRecordZone.ID(request.zoneID)
    let token = CKServerChangeToken(syncToken: page.syncToken)
    recordZoneChangeTokensUpdatedBlock?(zoneID, token, page.clientChangeTokenData)
    if page.moreComing && fetchAllChanges {
      var next = request
      next.syncToken = page.syncToken
      pending.append(next)
    } else {
      let values = (token, page.clientChangeTokenData, page.moreComing)
      recordZoneFetchResultBlock?(zoneID, .success(values))
      formerZoneBlock?(zoneID, token, page.clientChangeTokenData, page.moreComing, nil)
    }
  }

  override func conclude(_ error: CKError?) {
    fetchRecordZoneChangesResultBlock?(error.map { .failure($0) } ?? .success(()))
    formerCompletionBlock?(error ?? itemErrors.partialFailure)
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
