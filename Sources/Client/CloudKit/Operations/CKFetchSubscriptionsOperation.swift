internal import CloudKitModel
internal import WebServices

/// Fetches the user's subscriptions by their IDs, or all of them in the database. One that does not
/// exist fails with `unknownItem`.
open class CKFetchSubscriptionsOperation: CKDatabaseOperation, @unchecked Sendable {
  open var subscriptionIDs: [CKSubscription.ID]?

  public var perSubscriptionResultBlock:
    ((CKSubscription.ID, Result<CKSubscription, any Error>) -> Void)?
  public var fetchSubscriptionsResultBlock: ((Result<Void, any Error>) -> Void)?
  /// Called last.
  @available(*, deprecated, message: "Use fetchSubscriptionsResultBlock")
  open var fetchSubscriptionCompletionBlock:
    (([CKSubscription.ID: CKSubscription]?, (any Error)?) -> Void)?
  {
    get { formerCompletionBlock }
    set { formerCompletionBlock = newValue }
  }
  var formerCompletionBlock: (([CKSubscription.ID: CKSubscription]?, (any Error)?) -> Void)?

  var fetchesAll = false
  private var sent: [CKSubscription.ID] = []
  private var subscriptions: [CKSubscription.ID: CKSubscription] = [:]
  private var itemErrors = ItemErrors()

  public convenience init(subscriptionIDs: [CKSubscription.ID]) {
    self.init()
    self.subscriptionIDs = subscriptionIDs
  }

  /// Fetches all subscriptions; `subscriptionIDs` is ignored.
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
