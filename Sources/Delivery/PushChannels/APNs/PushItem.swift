/// A push on its way through an ``APNsClient``.
///
/// The item is a class, because it goes through several queues, and moving the push itself would
/// cost more. `@unchecked Sendable`: the item belongs to the caller until the intake takes it, and
/// then to the loop's thread.
final class PushItem: @unchecked Sendable {
  /// The push.
  let push: Push
  /// The callback for the result.
  let completion: APNsClient.Completion
  /// The number of times that the push was given to a connection.
  var attempts = 0
  /// Whether the push was already repeated because of an expired provider token.
  var hadTokenRenewed = false
  /// The number of the connection of the last attempt; 0 before the first.
  var connection = 0
  /// The provider token of the last attempt; `nil` with a certificate.
  var token: String?

  /// Creates an item that was not sent yet.
  init(push: Push, completion: @escaping APNsClient.Completion) {
    self.push = push
    self.completion = completion
  }
}
