import Measuring

/// How long the steps of a push take, in seconds.
public struct DeliveryTimes: Sendable, Hashable {
  /// From an entry of the notification log to the first attempt to send it to a device.
  public var loggedToSent = Histogram(bounds: Histogram.longSeconds)
  /// From an attempt to the word of the device's service that it has the push.
  public var sentToAccepted = Histogram(bounds: Histogram.seconds)
  /// From the save of the change to that word.
  public var savedToAccepted = Histogram(bounds: Histogram.longSeconds)

  public init() {}
}
