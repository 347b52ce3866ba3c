internal import CloudKitModel
internal import WebServices

/// An operation that fetches record zones by their IDs, or all zones of the database.
///
/// A zone that does not exist fails with `zoneNotFound`. Errors of single zones go to
/// ``perRecordZoneResultBlock``; the result of the operation is then still success. Only the
/// deprecated ``fetchRecordZonesCompletionBlock`` gets them together, as `partialFailure`.
///
/// The public and the private database always have the default zone, so a fetch of all zones
/// includes it. The shared database has the zones that other users share with the current user.
open class CKFetchRecordZonesOperation: CKDatabaseOperation, @unchecked Sendable {
  /// The IDs of the zones to fetch. Ignored by an operation of ``fetchAllRecordZonesOperation()``.
  /// With nil or an empty list, the operation succeeds without a request.
  open var recordZoneIDs: [CKRecordZone.ID]?

  /// The block that the operation calls with the result of each zone, before
  /// ``fetchRecordZonesResultBlock``.
  public var perRecordZoneResultBlock: ((CKRecordZone.ID, Result<CKRecordZone, any Error>) -> Void)?
  /// The block that the operation calls once, after the blocks of the zones. The result is a
  /// failure only if the whole request failed.
  public var fetchRecordZonesResultBlock: ((Result<Void, any Error>) -> Void)?
  /// The block that the operation calls once, after ``fetchRecordZonesResultBlock``, with the zones
  /// that were found. The error is `partialFailure` if some zones failed; its
  /// ``CKPartialErrorsByItemIDKey`` has the errors by zone ID.
  @available(*, deprecated, message: "Use fetchRecordZonesResultBlock")
  open var fetchRecordZonesCompletionBlock:
    (([CKRecordZone.ID: CKRecordZone]?, (any Error)?) -> Void)?
  {
    get { formerCompletionBlock }
    set { formerCompletionBlock = newValue }
  }
  /// The deprecated block, for code that must not cause its warning.
  var formerCompletionBlock: (([CKRecordZone.ID: CKRecordZone]?, (any Error)?) -> Void)?

  var fetchesAll = false
  /// The IDs in the order of the request. The server answers in the same order.
  private var sent: [CKRecordZone.ID] = []
  private var zones: [CKRecordZone.ID: CKRecordZone] = [:]
  private var itemErrors = ItemErrors()

  /// Makes an operation that fetches the zones with these IDs.
  public convenience init(recordZoneIDs zoneIDs: [CKRecordZone.ID]) {
    self.init()
    recordZoneIDs = zoneIDs
  }

  /// Makes an operation that fetches all zones of the database, and ignores ``recordZoneIDs``.
  ///
  /// Call it on `CKFetchRecordZonesOperation`. On a subclass it stops the program.
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
      for case .success(.zone(let zoneID, let isAtomic, _, let share)) in response.zones {
        finish(
          CKRecordZone.ID(zoneID),
          .success(CKRecordZone(zoneID, isAtomic: isAtomic, share: share)))
      }
      for case .failure(let failed) in response.zones {
        guard case .zone(let zoneID) = failed.name else { throw CKError(failed.error) }
        finish(CKRecordZone.ID(zoneID), .failure(CKError(failed.error)))
      }
      return nil
    }
    for (zoneID, item) in try pair(sent, with: response.zones) {
      switch item {
      case .success(.zone(let answered, let isAtomic, _, let share)):
        finish(zoneID, .success(CKRecordZone(answered, isAtomic: isAtomic, share: share)))
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
