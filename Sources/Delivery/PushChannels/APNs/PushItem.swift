/// A push on its way through an ``APNsClient``.
///
/// The item is a class because it moves through several queues, and a reference costs less to move
/// than the push. `@unchecked Sendable`: only the caller uses the item until the intake accepts it,
/// and then only the event loop's thread.
final class PushItem: @unchecked Sendable {
  let push: Push
  let completion: APNsClient.Completion
  var attempts = 0
  /// Whether the push was put back into the queue because of an expired provider token.
  var hadTokenRenewed = false
  /// The number of the connection of the last attempt; 0 before the first.
  var connection = 0
  /// The provider token of the last attempt; `nil` before the first, and if the client uses a
  /// certificate.
  var token: String?

  init(push: Push, completion: @escaping APNsClient.Completion) {
    self.push = push
    self.completion = completion
  }
}
