extension APNsResult: CustomStringConvertible {
  /// The result for people, such as `429 TooManyRequests`. It is made for every push, and Swift's
  /// default by reflection takes longer than sending the push.
  public var description: String {
    switch self {
    case .answered(let status, let reason?, _, _, _): "\(status) \(reason)"
    case .answered(let status, nil, _, _, _): String(status)
    case .notSent(let reason): "not sent: \(reason)"
    case .unknown(let reason): "no answer: \(reason)"
    }
  }
}
