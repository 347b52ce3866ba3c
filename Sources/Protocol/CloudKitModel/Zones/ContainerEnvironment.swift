/// The environment of a container. Data, schema, subscriptions and tokens of the two never mix.
///
/// The raw values are the words in a web-services path.
public enum ContainerEnvironment: String, Sendable, Hashable, CaseIterable, Codable {
  case development
  case production

  /// The number in a push payload (`ce`): production 1, development 2.
  public var payloadNumber: Int {
    switch self {
    case .production: 1
    case .development: 2
    }
  }
}
