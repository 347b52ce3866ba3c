internal import CloudKitModel
internal import WebServices

/// An operation that fetches the user's subscriptions by their IDs, or all of them in the database.
///
/// A subscription that does not exist fails with `unknownItem`. Errors of single subscriptions go
/// to ``perSubscriptionResultBlock``; the result of the operation is then still success. Only the
/// deprecated ``fetchSubscriptionCompletionBlock`` gets them together, as `partialFailure`.
///
/// Users see only their own subscriptions. The operation returns them as ``CKQuerySubscription``,
/// ``CKRecordZoneSubscription`` or ``CKDatabaseSubscription``.
open class CKFetchSubscriptionsOperation: CKDatabaseOperation, @unchecked Sendable {
  /// The IDs of the subscriptions to fetch. Ignored by an operation of
  /// ``fetchAllSubscriptionsOperation()``. With nil or an empty list, the operation succeeds
  /// without a request.
  open var subscriptionIDs: [CKSubscription.ID]?

  /// The block that the operation calls with the result of each subscription, before
  /// ``fetchSubscriptionsResultBlock``.
  public var perSubscriptionResultBlock:
    ((CKSubscription.ID, Result<CKSubscription, any Error>) -> Void)?
  /// The block that the operation calls once, after the blocks of the subscriptions. The result is
  /// a failure only if the whole request failed.
  public var fetchSubscriptionsResultBlock: ((Result<Void, any Error>) -> Void)?
  /// The block that the operation calls once, after ``fetchSubscriptionsResultBlock``, with the
  /// subscriptions that were found. The error is `partialFailure` if some of them failed; its
  /// ``CKPartialErrorsByItemIDKey`` has the errors by subscription ID.
  @available(*, deprecated, message: "Use fetchSubscriptionsResultBlock")
  open var fetchSubscriptionCompletionBlock:
    (([CKSubscription.ID: CKSubscription]?, (any Error)?) -> Void)?
  {
    get { formerCompletionBlock }
    set { formerCompletionBlock = newValue }
  }
  /// The deprecated block, for code that must not cause its warning.
  var formerCompletionBlock: (([CKSubscription.ID: CKSubscription]?, (any Error)?) -> Void)?

  var fetchesAll = false
  /// The IDs in the order of the request. The server answers in the same order.
  private var sent: [CKSubscription.ID] = []
  private var subscriptions: [CKSubscription.ID: CKSubscription] = [:]
  private var itemErrors = ItemErrors()

  /// Makes an operation that fetches the subscriptions with these IDs.
  public convenience init(subscriptionIDs: [CKSubscription.ID]) {
    self.init()
    self.subscriptionIDs = subscriptionIDs
  }

  /// Makes an operation that fetches all of the user's subscriptions in the database, and ignores
  /// ``subscriptionIDs``.
  ///
  /// Call it on `CKFetchSubscriptionsOperation`. On a subclass it stops the program.
  open class func fetchAllSubscriptionsOperation() -> Self {
    let operation = CKFetchSubscriptionsOperation()
    operation.fetchesAll = true
    return made(operation)
  }

  override func firstCall() throws(CKError) -> ServiceCall? {
    if fetchesAll { return call("subscriptions/list", body: nil) }
    sent = subscriptionIDs ?? []
    guard !sent.isEmpty else { return nil }
    let request = LookupSubscriptionsRequest(subscriptionIDs: sent)
    return call("subscriptions/lookup", body: request.body(context: messageContext))
  }

  override func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? {
    let context = messageContext
    let response = try read { () throws(ServiceError) in
      try SubscriptionsResponse(parsing: answer.body, context: context)
    }
    if fetchesAll {
      for case .success(.subscription(let model, _)) in response.subscriptions {
        finish(model.subscriptionID, .success(.subscription(model)))
      }
      for case .failure(let failed) in response.subscriptions {
        guard case .subscription(let id) = failed.name else { throw CKError(failed.error) }
        finish(id, .failure(CKError(failed.error)))
      }
      return nil
    }
    for (subscriptionID, item) in try pair(sent, with: response.subscriptions) {
      switch item {
      case .success(.subscription(let model, _)):
        finish(subscriptionID, .success(.subscription(model)))
      case .success(.deleted):
        finish(subscriptionID, .failure(CKError(.unknownItem, "the subscription was deleted")))
      case .failure(let failed):
        finish(subscriptionID, .failure(CKError(failed.error)))
      }
    }
    return nil
  }

  private func finish(
    _ subscriptionID: CKSubscription.ID, _ result: Result<CKSubscription, CKError>
  ) {
    switch result {
    case .success(let subscription): subscriptions[subscriptionID] = subscription
    case .failure(let error): itemErrors.add(error, for: subscriptionID)
    }
    perSubscriptionResultBlock?(subscriptionID, result.mapError { $0 })
  }

  override func conclude(_ error: CKError?) {
    fetchSubscriptionsResultBlock?(error.map { .failure($0) } ?? .success(()))
    formerCompletionBlock?(subscriptions, error ?? itemErrors.partialFailure)
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    perSubscriptionResultBlock = nil
    fetchSubscriptionsResultBlock = nil
    formerCompletionBlock = nil
  }
}
