/// A push on its way through an ``APNsClient``.
///
/// A class, for it goes through several queues, and moving the push itself would cost more than
/// that. Unchecked: it belongs to the caller until it is taken in, and then to the loop's thread.
final class PushItem: @unchecked Sendable {
  let push: Push
  let completion: APNsClient.Completion
  /// How often the push was given to a connection.
  var attempts = 0
  /// Whether it was given back for its provider token once already.
  var hadTokenRenewed = false
  /// The connection that has it, and the provider token that it was sent with.
  var connection = 0
  var token: String?

  init(push: Push, completion: @escaping APNsClient.Completion) {
    self.push = push
    self.completion = completion
  }
}
