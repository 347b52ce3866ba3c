/// A geographic location, with the accuracy and the time of its measurement. A location cannot
/// change.
///
/// The module replaces Apple's `CoreLocation` on Linux. It has only the types that locations in
/// records need. It does not determine the position of the device.
///
/// ```swift
/// note["place"] = CLLocation(latitude: 52.52, longitude: 13.405)
/// ```
public final class CLLocation: NSObject, NSSecureCoding, NSCopying, Sendable {
  /// The latitude and longitude.
  public let coordinate: CLLocationCoordinate2D
  /// The metres above sea level. The value is valid if ``verticalAccuracy`` is not negative.
  public let altitude: CLLocationDistance
  /// The radius of uncertainty of the coordinate in metres. A negative value means that the
  /// coordinate is not valid.
  public let horizontalAccuracy: CLLocationAccuracy
  /// The uncertainty of the altitude in metres. A negative value means that the altitude is not
  /// valid.
  public let verticalAccuracy: CLLocationAccuracy
  /// The direction of movement in degrees clockwise from north. A negative value means that the
  /// course is not valid.
  public let course: CLLocationDirection
  /// The uncertainty of the course in degrees. A negative value means that the uncertainty is not
  /// known. Records do not store this value.
  public let courseAccuracy: CLLocationDirectionAccuracy
  /// The speed in metres per second. A negative value means that the speed is not valid.
  public let speed: CLLocationSpeed
  /// The uncertainty of the speed in metres per second. A negative value means that the uncertainty
  /// is not known. Records do not store this value.
  public let speedAccuracy: CLLocationSpeedAccuracy
  /// The time of the measurement.
  public let timestamp: Date
  /// The source of the location; nil if it is not known. Records do not store this value.
  public let sourceInformation: CLLocationSourceInformation?

  /// Makes a location with only a coordinate.
  ///
  /// The time is now. The horizontal accuracy is 0. The vertical accuracy, the course, the speed
  /// and the accuracies of course and speed are -1, which means not valid or not known.
  public convenience init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
    self.init(
      coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude), altitude: 0,
      horizontalAccuracy: 0, verticalAccuracy: -1, timestamp: Date())
  }

  /// Makes a location without course and speed. The course and the speed are -1, which marks them
  /// as not valid. Their accuracies are -1 too, which means not known.
  ///
  /// - Parameters:
  ///   - coordinate: The latitude and longitude.
  ///   - altitude: The metres above sea level.
  ///   - hAccuracy: The radius of uncertainty of the coordinate in metres; negative marks the
  ///     coordinate as not valid.
  ///   - vAccuracy: The uncertainty of the altitude in metres; negative marks the altitude as not
  ///     valid.
  ///   - timestamp: The time of the measurement.
  public convenience init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
    horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, timestamp: Date
  ) {
    self.init(
      coordinate: coordinate, altitude: altitude, horizontalAccuracy: hAccuracy,
      verticalAccuracy: vAccuracy, course: -1, speed: -1, timestamp: timestamp)
  }

  /// Makes a location with course and speed. Their accuracies are -1, which means not known.
  public convenience init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
    horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, course: CLLocationDirection,
    speed: CLLocationSpeed, timestamp: Date
  ) {
    self.init(
      coordinate: coordinate, altitude: altitude, horizontalAccuracy: hAccuracy,
      verticalAccuracy: vAccuracy, course: course, courseAccuracy: -1, speed: speed,
      speedAccuracy: -1, timestamp: timestamp)
  }

  /// Makes a location from all its values except the source. ``sourceInformation`` is nil.
  public convenience init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
    horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, course: CLLocationDirection,
    courseAccuracy: CLLocationDirectionAccuracy, speed: CLLocationSpeed,
    speedAccuracy: CLLocationSpeedAccuracy, timestamp: Date
  ) {
    self.init(
      coordinate: coordinate, altitude: altitude, horizontalAccuracy: hAccuracy,
      verticalAccuracy: vAccuracy, course: course, courseAccuracy: courseAccuracy, speed: speed,
      speedAccuracy: speedAccuracy, timestamp: timestamp, source: nil)
  }

  /// Makes a location from all its values.
  public convenience init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
    horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, course: CLLocationDirection,
    courseAccuracy: CLLocationDirectionAccuracy, speed: CLLocationSpeed,
    speedAccuracy: CLLocationSpeedAccuracy, timestamp: Date,
    sourceInfo: CLLocationSourceInformation
  ) {
    self.init(
      coordinate: coordinate, altitude: altitude, horizontalAccuracy: hAccuracy,
      verticalAccuracy: vAccuracy, course: course, courseAccuracy: courseAccuracy, speed: speed,
      speedAccuracy: speedAccuracy, timestamp: timestamp, source: sourceInfo)
  }

  private init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
    horizontalAccuracy: CLLocationAccuracy, verticalAccuracy: CLLocationAccuracy,
    course: CLLocationDirection, courseAccuracy: CLLocationDirectionAccuracy,
    speed: CLLocationSpeed, speedAccuracy: CLLocationSpeedAccuracy, timestamp: Date,
    source: CLLocationSourceInformation?
  ) {
    self.coordinate = coordinate
    self.altitude = altitude
    self.horizontalAccuracy = horizontalAccuracy
    self.verticalAccuracy = verticalAccuracy
    self.course = course
    self.courseAccuracy = courseAccuracy
    self.speed = speed
    self.speedAccuracy = speedAccuracy
    self.timestamp = timestamp
    sourceInformation = source
  }

  public static var supportsSecureCoding: Bool { true }

  /// The keys of an archive that Apple's framework uses too.
  private enum ArchiveKey {
    private static let prefix = "kCLLocationCodingKey"
    static let latitude = prefix + "CoordinateLatitude"
    static let longitude = prefix + "CoordinateLongitude"
    static let altitude = prefix + "Altitude"
    static let horizontalAccuracy = prefix + "HorizontalAccuracy"
    static let verticalAccuracy = prefix + "VerticalAccuracy"
    static let course = prefix + "Course"
    static let speed = prefix + "Speed"
    static let timestamp = prefix + "Timestamp"
  }

  /// Makes a location from an archive of this module or of Apple's framework. Returns nil, and
  /// makes the decoder fail, if the coordinate is missing.
  public required init?(coder: NSCoder) {
    // Archives of earlier versions have the names of the properties as keys.
    func double(_ key: String, _ formerKey: String) -> Double {
      coder.decodeDouble(forKey: coder.containsValue(forKey: key) ? key : formerKey)
    }
    func accuracy(_ key: String) -> Double {
      coder.containsValue(forKey: key) ? coder.decodeDouble(forKey: key) : -1
    }
    func hasValue(_ key: String, _ formerKey: String) -> Bool {
      coder.containsValue(forKey: key) || coder.containsValue(forKey: formerKey)
    }
    guard hasValue(ArchiveKey.latitude, "latitude"), hasValue(ArchiveKey.longitude, "longitude")
    else {
      coder.failWithError(CocoaError(.coderValueNotFound))
      return nil
    }
    coordinate = CLLocationCoordinate2D(
      latitude: double(ArchiveKey.latitude, "latitude"),
      longitude: double(ArchiveKey.longitude, "longitude"))
    altitude = double(ArchiveKey.altitude, "altitude")
    horizontalAccuracy = double(ArchiveKey.horizontalAccuracy, "horizontalAccuracy")
    verticalAccuracy = double(ArchiveKey.verticalAccuracy, "verticalAccuracy")
    course = double(ArchiveKey.course, "course")
    courseAccuracy = accuracy("courseAccuracy")
    speed = double(ArchiveKey.speed, "speed")
    speedAccuracy = accuracy("speedAccuracy")
    timestamp = Date(timeIntervalSinceReferenceDate: double(ArchiveKey.timestamp, "timestamp"))
    sourceInformation =
      coder.containsValue(forKey: "sourceInformation")
      ? coder.decodeObject(of: CLLocationSourceInformation.self, forKey: "sourceInformation") : nil
  }

  public func encode(with coder: NSCoder) {
    coder.encode(coordinate.latitude, forKey: ArchiveKey.latitude)
    coder.encode(coordinate.longitude, forKey: ArchiveKey.longitude)
    coder.encode(altitude, forKey: ArchiveKey.altitude)
    coder.encode(horizontalAccuracy, forKey: ArchiveKey.horizontalAccuracy)
    coder.encode(verticalAccuracy, forKey: ArchiveKey.verticalAccuracy)
    coder.encode(course, forKey: ArchiveKey.course)
    coder.encode(courseAccuracy, forKey: "courseAccuracy")
    coder.encode(speed, forKey: ArchiveKey.speed)
    coder.encode(speedAccuracy, forKey: "speedAccuracy")
    coder.encode(timestamp.timeIntervalSinceReferenceDate, forKey: ArchiveKey.timestamp)
    coder.encode(sourceInformation, forKey: "sourceInformation")
  }

  /// Returns the location itself, which cannot change.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// Returns whether the other object is a location with the same coordinate, altitude, course,
  /// speed, accuracies and time. The source does not count.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CLLocation else { return false }
    return coordinate.latitude == other.coordinate.latitude
      && coordinate.longitude == other.coordinate.longitude && altitude == other.altitude
      && horizontalAccuracy == other.horizontalAccuracy
      && verticalAccuracy == other.verticalAccuracy && course == other.course
      && courseAccuracy == other.courseAccuracy && speed == other.speed
      && speedAccuracy == other.speedAccuracy && timestamp == other.timestamp
  }

  public override var hash: Int {
    var hasher = Hasher()
    hasher.combine(coordinate.latitude)
    hasher.combine(coordinate.longitude)
    return hasher.finalize()
  }

  public override var description: String {
    String(
      format: "<%+.8f,%+.8f> +/- %.2fm (speed %.2f mps / course %.2f)", coordinate.latitude,
      coordinate.longitude, horizontalAccuracy, speed, course)
  }
}
