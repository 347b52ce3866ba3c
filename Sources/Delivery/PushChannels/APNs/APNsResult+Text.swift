extension APNsResult: CustomStringConvertible {
  /// The result as text, such as `429 TooManyRequests`.
  ///
  /// Petrel makes this text for every push. Swift's default description uses reflection, which
  /// takes longer than the sending of the push.
  public var description: String {
    switch self {
    case .answered(let status, let reason?, _, _, _): "\(status) \(reason)"
    case .answered(let status, nil, _, _, _): String(status)
    case .notSent(let reason): "not sent: \(reason)"
    case .unknown(let reason): "no answer: \(reason)"
    }
  }
}
