internal import CloudKitModel
internal import WebServices

/// Fetches zones by their IDs, or all zones of the database, the default zone among them.
open class CKFetchRecordZonesOperation: CKDatabaseOperation, @unchecked Sendable {
  open var recordZoneIDs: [CKRecordZone.ID]?

  public var perRecordZoneResultBlock: ((CKRecordZone.ID, Result<CKRecordZone, any Error>) -> Void)?
  public var fetchRecordZonesResultBlock: ((Result<Void, any Error>) -> Void)?
  /// Called last.
  @available(*, deprecated, message: "Use fetchRecordZonesResultBlock")
  open var fetchRecordZonesCompletionBlock:
    (([CKRecordZone.ID: CKRecordZone]?, (any Error)?) -> Void)?
  {
    get { formerCompletionBlock }
    set { formerCompletionBlock = newValue }
  }
  var formerCompletionBlock: (([CKRecordZone.ID: CKRecordZone]?, (any Error)?) -> Void)?

  var fetchesAll = false
  private var sent: [CKRecordZone.ID] = []
  private var zones: [CKRecordZone.ID: CKRecordZone] = [:]
  private var itemErrors = ItemErrors()

  public convenience init(recordZoneIDs zoneIDs: [CKRecordZone.ID]) {
    self.init()
    recordZoneIDs = zoneIDs
  }

  /// Fetches all zones; `recordZoneIDs` is ignored.
  open class func fetchAllRecordZonesOperation() -> Self {
    let operation = CKFetchRecordZonesOperation()
    operation.fetchesAll = true
    return made(operation)
  }

  override func firstCall() throws(CKError) -> ServiceCall? {
    if fetchesAll { return call("zones/list", body: nil) }
    sent = recordZoneIDs ?? []
    guard !sent.isEmpty else { return nil }
    let request = LookupZonesRequest(zoneIDs: sent.map(\.model))
    return call("zones/lookup", body: request.body(context: messageContext))
  }

  override func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? {
    let context = messageContext
    let response = try read { () throws(ServiceError) in
      try ZonesResponse(parsing: answer.body, context: context)
    }
    if fetchesAll {
      for case .success(.zone(let zoneID, let isAtomic, _)) in response.zones {
        finish(CKRecordZone.ID(zoneID), .success(CKRecordZone(zoneID, isAtomic: isAtomic)))
      }
      for case .failure(let failed) in response.zones {
        guard case .zone(let zoneID) = failed.name else { throw CKError(failed.error) }
        finish(CKRecordZone.ID(zoneID), .failure(CKError(failed.error)))
      }
      return nil
    }
    for (zoneID, item) in try pair(sent, with: response.zones) {
      switch item {
      case .success(.zone(let answered, let isAtomic, _)):
        finish(zoneID, .success(CKRecordZone(answered, isAtomic: isAtomic)))
      case .success(.deleted):
        finish(zoneID, .failure(CKError(.zoneNotFound, "the zone was deleted")))
      case .failure(let failed):
        finish(zoneID, .failure(CKError(failed.error)))
      }
    }
    return nil
  }

  private func finish(_ zoneID: CKRecordZone.ID, _ result: Result<CKRecordZone, CKError>) {
    switch result {
    case .success(let zone): zones[zoneID] = zone
    case .failure(let error): itemErrors.add(error, for: zoneID)
    }
    perRecordZoneResultBlock?(zoneID, result.mapError { $0 })
  }

  override func conclude(_ error: CKError?) {
    fetchRecordZonesResultBlock?(error.map { .failure($0) } ?? .success(()))
    formerCompletionBlock?(zones, error ?? itemErrors.partialFailure)
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    perRecordZoneResultBlock = nil
    fetchRecordZonesResultBlock = nil
    formerCompletionBlock = nil
  }
}
