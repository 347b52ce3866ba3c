/// An environment of a container. The two environments share no data, schema, subscriptions or
/// tokens.
///
/// The raw values are the words in the path of a request.
public enum ContainerEnvironment: String, Sendable, Hashable, CaseIterable, Codable {
  /// The environment for development, whose schema grows with the records that are saved.
  case development
  /// The environment of released apps.
  case production

  /// The number of the environment in a push payload (`ce`): production 1, development 2.
  public var payloadNumber: Int {
    switch self {
    case .production: 1
    case .development: 2
    }
  }
}
