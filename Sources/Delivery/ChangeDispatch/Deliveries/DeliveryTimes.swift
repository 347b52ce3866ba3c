import Measuring

/// The histograms of the durations of a push's steps, in seconds.
public struct DeliveryTimes: Sendable, Hashable {
  /// The time from the log entry of a notification to the first attempt to send it to a device.
  public var loggedToSent = Histogram(bounds: Histogram.longSeconds)
  /// The time from the start of an attempt until the service accepts the push.
  public var sentToAccepted = Histogram(bounds: Histogram.seconds)
  /// The time from the save of the change until the service accepts the push.
  public var savedToAccepted = Histogram(bounds: Histogram.longSeconds)

  /// Creates empty histograms.
  public init() {}
}
