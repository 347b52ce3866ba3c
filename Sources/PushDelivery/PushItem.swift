/// A push on its way through an ``APNsClient``.
struct PushItem: Sendable {
  let push: Push
  let completion: APNsClient.Completion
  /// How often the push was given to a connection.
  var attempts = 0
  /// Whether it was given back for its provider token once already.
  var hadTokenRenewed = false
}
