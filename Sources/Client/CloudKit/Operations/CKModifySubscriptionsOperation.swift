internal import CloudKitModel
internal import WebServices

/// Saves and deletes subscriptions.
///
/// A save replaces the subscription with the same ID, also one of another type, of which the operation then
/// warns on standard error; deleting an unknown ID fails with
/// `unknownItem`. An error of a single subscription goes to its block, and the result is success;
/// only the deprecated ``modifySubscriptionsCompletionBlock`` gets them together, as
/// `partialFailure`.
///
/// ```swift
/// let operation = CKModifySubscriptionsOperation(subscriptionsToSave: [subscription])
/// operation.qualityOfService = .utility
/// operation.modifySubscriptionsResultBlock = { result in … }
/// CKContainer.default().privateCloudDatabase.add(operation)
/// ```
open class CKModifySubscriptionsOperation: CKDatabaseOperation, @unchecked Sendable {
  open var subscriptionsToSave: [CKSubscription]?
  open var subscriptionIDsToDelete: [CKSubscription.ID]?

  public var perSubscriptionSaveBlock:
    ((CKSubscription.ID, Result<CKSubscription, any Error>) -> Void)?
  public var perSubscriptionDeleteBlock: ((CKSubscription.ID, Result<Void, any Error>) -> Void)?
  public var modifySubscriptionsResultBlock: ((Result<Void, any Error>) -> Void)?
  /// Called last.
  @available(*, deprecated, message: "Use modifySubscriptionsResultBlock")
  open var modifySubscriptionsCompletionBlock:
    (([CKSubscription]?, [CKSubscription.ID]?, (any Error)?) -> Void)?
  {
    get { formerCompletionBlock }
    set { formerCompletionBlock = newValue }
  }
  var formerCompletionBlock: (([CKSubscription]?, [CKSubscription.ID]?, (any Error)?) -> Void)?

  private var sent: [SubscriptionOperation] = []
  private var savedSubscriptions: [CKSubscription] = []
  private var deletedSubscriptionIDs: [CKSubscription.ID] = []
  private var itemErrors = ItemErrors()

  public convenience init(
    subscriptionsToSave: [CKSubscription]? = nil,
    subscriptionIDsToDelete: [CKSubscription.ID]? = nil
  ) {
    self.init()
    self.subscriptionsToSave = subscriptionsToSave
    self.subscriptionIDsToDelete = subscriptionIDsToDelete
  }

  override func firstCall() throws(CKError) -> ServiceCall? {
    for subscription in subscriptionsToSave ?? [] {
      do throws(CKError) {
        sent.append(.save(try subscription.model()))
      } catch {
        finishSave(subscription.subscriptionID, .failure(error))
      }
    }
    sent += (subscriptionIDsToDelete ?? []).map { .delete(subscriptionID: $0) }
    guard !sent.isEmpty else { return nil }
    let request = ModifySubscriptionsRequest(operations: sent)
    return call("subscriptions/modify", body: request.body(context: messageContext))
  }

  override func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? {
    let context = messageContext
    let response = try read { () throws(ServiceError) in
      try SubscriptionsResponse(parsing: answer.body, context: context)
    }
    for (operation, result) in try pair(sent, with: response.subscriptions) {
      switch (operation, result) {
      case (.save(let subscription), .success(.subscription(let saved, let replaced))):
        if let replaced { warn(of: replaced, replacedBy: saved) }
        finishSave(subscription.subscriptionID, .success(.subscription(saved)))
      case (.save(let subscription), .failure(let failed)) where failed.error.code == .exists:
        // Of a record it would be a conflict; a subscription has no change tag to be in conflict by.
        finishSave(
          subscription.subscriptionID,
          .failure(CKError(.serverRejectedRequest, failed.error.reason)))
      case (.save(let subscription), .failure(let failed)):
        finishSave(subscription.subscriptionID, .failure(CKError(failed.error)))
      case (.delete(let subscriptionID), .success(.deleted)):
        finishDeletion(subscriptionID, .success(()))
      case (.delete(let subscriptionID), .failure(let failed))
      where answer.mayRepeatWork && failed.error.code == .notFound:
        // An attempt whose answer was lost deleted it.
        finishDeletion(subscriptionID, .success(()))
      case (.delete(let subscriptionID), .failure(let failed)):
        finishDeletion(subscriptionID, .failure(CKError(failed.error)))
      case (_, .success):
        throw CKError(.internalError, "the server's answer is for another operation")
      }
    }
    return nil
  }

  /// Says on standard error what Apple's framework is silent about: an app that gives one ID to two
  /// subscriptions of different types has only the last one.
  private func warn(of former: Subscription.KindName, replacedBy saved: Subscription) {
    PetrelConfiguration.warn(
      "saving the \(saved.kind.name) subscription '\(saved.subscriptionID)' replaced the "
        + "\(former) subscription with the same ID; give each subscription an ID of its own")
  }

  private func finishSave(
    _ subscriptionID: CKSubscription.ID, _ result: Result<CKSubscription, CKError>
  ) {
    switch result {
    case .success(let subscription): savedSubscriptions.append(subscription)
    case .failure(let error): itemErrors.add(error, for: subscriptionID)
    }
    perSubscriptionSaveBlock?(subscriptionID, result.mapError { $0 })
  }

  private func finishDeletion(
    _ subscriptionID: CKSubscription.ID, _ result: Result<Void, CKError>
  ) {
    switch result {
    case .success: deletedSubscriptionIDs.append(subscriptionID)
    case .failure(let error): itemErrors.add(error, for: subscriptionID)
    }
    perSubscriptionDeleteBlock?(subscriptionID, result.mapError { $0 })
  }

  override func conclude(_ error: CKError?) {
    modifySubscriptionsResultBlock?(error.map { .failure($0) } ?? .success(()))
    formerCompletionBlock?(
      savedSubscriptions, deletedSubscriptionIDs, error ?? itemErrors.partialFailure)
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    perSubscriptionSaveBlock = nil
    perSubscriptionDeleteBlock = nil
    modifySubscriptionsResultBlock = nil
    formerCompletionBlock = nil
  }
}
