/// A push on its way through an ``APNsClient``.
///
/// A class, because it goes through several queues, and moving the push itself would cost more.
/// Unchecked: it belongs to the caller until the intake takes it, and then to the loop's thread.
final class PushItem: @unchecked Sendable {
  let push: Push
  let completion: APNsClient.Completion
  /// How often the push was given to a connection.
  var attempts = 0
  /// Whether it was already repeated because of an expired provider token.
  var hadTokenRenewed = false
  /// The connection that sends it, and its provider token.
  var connection = 0
  var token: String?

  init(push: Push, completion: @escaping APNsClient.Completion) {
    self.push = push
    self.completion = completion
  }
}
