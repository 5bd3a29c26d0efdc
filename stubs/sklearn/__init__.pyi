"""The part of scikit-learn this project uses; it ships no annotations of its own."""
