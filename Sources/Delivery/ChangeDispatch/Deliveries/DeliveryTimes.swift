import Measuring

/// The durations of a push's steps, in seconds.
public struct DeliveryTimes: Sendable, Hashable {
  /// From the logging of a notification to the first attempt to send it to a device.
  public var loggedToSent = Histogram(bounds: Histogram.longSeconds)
  /// From an attempt to the service's acceptance of the push.
  public var sentToAccepted = Histogram(bounds: Histogram.seconds)
  /// From the save of the change to that acceptance.
  public var savedToAccepted = Histogram(bounds: Histogram.longSeconds)

  public init() {}
}
