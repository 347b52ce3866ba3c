import Foundation

/// Returns the sine of an angle in degrees.
func sine(_ degrees: Double) -> Double { sin(degrees * .pi / 180) }

/// Returns the angle in degrees, -90 to 90, that has this sine.
func arcSine(_ sine: Double) -> Double { asin(sine) * 180 / .pi }

/// Returns the cosine of an angle in degrees.
func cosine(_ degrees: Double) -> Double { cos(degrees * .pi / 180) }

/// Returns the angle in degrees, 0 to 180, that has this cosine.
func arcCosine(_ cosine: Double) -> Double { acos(cosine) * 180 / .pi }
