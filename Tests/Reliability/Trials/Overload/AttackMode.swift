/// A way to hold a server up.
enum AttackMode: String, CaseIterable {
  /// Requests that cost their sender little and a careless server much: ``AttackShape``.
  case requests
  /// Large bodies that are announced, begun and never finished, without an account.
  case bodies
  /// The same to invented upload URLs of assets.
  case uploads
  /// Saves of 400 records at once that each fire 500 subscriptions of the attacker.
  case log
  /// As many event streams as the server permits, all of one user whom each of a few saves notifies 500 times.
  case streams
}
